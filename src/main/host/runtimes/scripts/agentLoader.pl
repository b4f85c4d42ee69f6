# What a container runs first, without the shared part: it waits for the script of the agent, so that a container of an
# earlier Steward takes the script of a later one. Whatever comes before the mark is skipped: engines put the body of the
# request there.
my $input = '';
my $length;
until (defined $length) {
  if ($input =~ /\nsteward agent (\d+)\n/) { $length = $1; $input = $' }
  else { sysread(STDIN, $input, 65536, length $input) or exit 1 }
}
while (length $input < $length) { sysread(STDIN, $input, 65536, length $input) or exit 1 }
my $script = substr $input, 0, $length, '';
eval $script;
die $@;
