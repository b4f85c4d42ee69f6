# The same for a process that has got the terminal as its standard input.
my $given = given();
my $answer = open_terminal_side(*STDIN, $given->{uid});
die "$answer->{failed}\n" if $answer->{failed};
