# Runs `command` as root of the uid range `range`, for files that do not belong to the user of Steward.
my $options = read_options();
enter_range($options->{range}, 0);
my @command = @{$options->{command}};
exec { $command[0] } @command;
die "cannot run $command[0]: $!\n";
