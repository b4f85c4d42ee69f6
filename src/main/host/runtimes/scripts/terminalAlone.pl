# The same for a process that has got the terminal as its standard input.
given();
my $answer = open_terminal_side(*STDIN);
die "$answer->{failed}\n" if $answer->{failed};
