# First script of a container, without the shared part. Waits for the script of the agent, so that a container of an
# earlier Steward can run the agent of a later one. Skips all input before the marker, because engines put the body of
# the request there.
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
