# Runs `unlock_terminal` in a process that has the terminal as its standard input.
read_options();
my $answer = unlock_terminal(*STDIN);
die "$answer->{failed}\n" if $answer->{failed};
