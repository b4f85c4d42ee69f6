# Runs `command`, which is killed when the parent process ends.
my @command = @{read_options()->{command}};
call('prctl', 1, 9, 0, 0, 0);
exec { $command[0] } @command;
die "cannot run $command[0]: $!\n";
