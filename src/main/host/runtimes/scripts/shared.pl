# Included in every helper script. Only modules of Debian's `perl-base` are allowed: no JSON::PP, no Socket messages.
# A script has one argument, a JSON object that `read_options` parses. Its `calls` maps system call names to numbers.
use strict;

# Flags of open(2), the same on every architecture.
sub O_WRONLY() { 1 }
sub O_CREAT() { 64 }
sub O_NOCTTY() { 256 }
sub O_NONBLOCK() { 2048 }
sub AT_FDCWD() { -100 }

my %system_calls;
sub read_options {
  my $options = from_json($ARGV[0]);
  %system_calls = %{$options->{calls}};
  $options;
}

# Runs a system call: `call('mount', $from, $to, ...)`. Passes numbers by value and strings by address, so the kernel
# can write into a variable. Copies literals first. Returns -1 and sets `$!` on failure, like `syscall`.
sub call {
  my $name = shift;
  my $number = $system_calls{$name};
  defined $number or die "Unknown system call $name.\n";
  for my $index (0 .. $#_) {
    Internals::SvREADONLY($_[$index]) or next;
    my $copy = $_[$index];
    splice @_, $index, 1, $copy;
  }
  syscall $number, @_;
}

# Resources of getrlimit(2), the same on every architecture.
sub RLIMIT_NPROC() { 6 }
sub RLIMIT_NOFILE() { 7 }
sub RLIMIT_SIGPENDING() { 11 }
sub RLIMIT_MSGQUEUE() { 12 }

# Limits a process; 0 is this process.
sub limit_resource {
  my ($pid, $resource, $max) = @_;
  my $limit = pack 'QQ', $max, $max;
  call('prlimit64', $pid, $resource, $limit, 0) == 0 or die "cannot set resource limits: $!\n";
}
# Returns the soft and the hard limit of this process.
sub get_resource_limits {
  my ($resource) = @_;
  my $limits = "\0" x 16;
  call('prlimit64', 0, $resource, 0, $limits) == 0 or die "cannot read resource limits: $!\n";
  unpack 'QQ', $limits;
}

# Parses one JSON value and dies on anything else. Strings become UTF-8 bytes, a lone surrogate becomes U+FFFD. `true`
# becomes 1, `false` 0 and `null` undef.
sub from_json {
  my ($text) = @_;
  defined $text or die "JSON is missing.\n";
  pos($text) = 0;
  my $value = parse_json_value($text);
  $text =~ /\G[ \t\r\n]*\z/gc or fail_json($text);
  $value;
}
sub fail_json { die 'Invalid JSON at byte ' . (pos($_[0]) || 0) . ".\n" }
# The parsers below consume the caller's text; its `pos` is the position.
sub parse_json_value {
  $_[0] =~ /\G[ \t\r\n]*/gc;
  if ($_[0] =~ /\G"/gc) { parse_json_string($_[0]) }
  elsif ($_[0] =~ /\G(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/gc) { 0 + $1 }
  elsif ($_[0] =~ /\G\{/gc) { parse_json_object($_[0]) }
  elsif ($_[0] =~ /\G\[/gc) { parse_json_array($_[0]) }
  elsif ($_[0] =~ /\Gtrue/gc) { 1 }
  elsif ($_[0] =~ /\Gfalse/gc) { 0 }
  elsif ($_[0] =~ /\Gnull/gc) { undef }
  else { fail_json($_[0]) }
}
sub parse_json_array {
  my @values;
  return \@values if $_[0] =~ /\G[ \t\r\n]*\]/gc;
  while (1) {
    push @values, scalar parse_json_value($_[0]);
    return \@values if $_[0] =~ /\G[ \t\r\n]*\]/gc;
    $_[0] =~ /\G[ \t\r\n]*,/gc or fail_json($_[0]);
  }
}
sub parse_json_object {
  my %values;
  return \%values if $_[0] =~ /\G[ \t\r\n]*\}/gc;
  while (1) {
    $_[0] =~ /\G[ \t\r\n]*"/gc or fail_json($_[0]);
    my $key = parse_json_string($_[0]);
    $_[0] =~ /\G[ \t\r\n]*:/gc or fail_json($_[0]);
    $values{$key} = parse_json_value($_[0]);
    return \%values if $_[0] =~ /\G[ \t\r\n]*\}/gc;
    $_[0] =~ /\G[ \t\r\n]*,/gc or fail_json($_[0]);
  }
}
sub parse_json_string {
  my $string = '';
  while (1) {
    if ($_[0] =~ /\G([^"\\\x00-\x1f]+)/gc) { $string .= $1 }
    elsif ($_[0] =~ /\G"/gc) { return $string }
    elsif ($_[0] =~ /\G\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/gc) {
      $string .= encode_character(0x10000 + ((hex($1) & 0x3ff) << 10) + (hex($2) & 0x3ff));
    }
    elsif ($_[0] =~ /\G\\u[dD][89a-fA-F][0-9a-fA-F]{2}/gc) { $string .= encode_character(0xfffd) }
    elsif ($_[0] =~ /\G\\u([0-9a-fA-F]{4})/gc) { $string .= encode_character(hex $1) }
    elsif ($_[0] =~ /\G\\(["\\\/])/gc) { $string .= $1 }
    elsif ($_[0] =~ /\G\\([bfnrt])/gc) { $string .= { b => "\b", f => "\f", n => "\n", r => "\r", t => "\t" }->{$1} }
    else { fail_json($_[0]) }
  }
}
sub encode_character { my $character = chr $_[0]; utf8::encode($character); $character }

# Formats a value as JSON. Bytes of strings stay unchanged. A value only ever used as a number becomes a number; `\1`
# and `\0` are the booleans.
sub to_json {
  my ($value) = @_;
  my $kind = ref $value;
  if ($kind eq 'HASH') { '{' . join(',', map { quote_json($_) . ':' . to_json($value->{$_}) } sort keys %$value) . '}' }
  elsif ($kind eq 'ARRAY') { '[' . join(',', map { to_json($_) } @$value) . ']' }
  elsif ($kind eq 'SCALAR') { $$value ? 'true' : 'false' }
  elsif ($kind ne '') { die "JSON cannot represent $kind.\n" }
  elsif (!defined $value) { 'null' }
  elsif (($value ^ $value) eq '0') { format_json_number($value) } # of strings this makes as many NULs
  else { quote_json($value) }
}
sub format_json_number {
  my ($number) = @_;
  $number - $number == 0 or die "JSON cannot represent $number.\n";
  my $short = "$number"; # may have lost digits
  $short =~ /\A-?[0-9]+\z/ && $short == $number ? $short : sprintf '%.17g', $number;
}
sub quote_json {
  my ($string) = @_;
  $string =~ s/([\x00-\x1f"\\])/sprintf '\\u%04x', ord $1/ge;
  qq{"$string"};
}

# Returns true if all bytes were written.
sub send_all {
  my ($to, $bytes) = @_;
  for (my $offset = 0; $offset < length $bytes;) {
    my $sent = syswrite $to, $bytes, length($bytes) - $offset, $offset;
    if (defined $sent) { $offset += $sent }
    elsif ($! != 4) { return 0 }
  }
  1;
}

# Removes the next NUL-terminated field from `$$input` and returns it. `$more->()` appends input and returns false at
# its end; then the result is undef.
sub take_field {
  my ($input, $more) = @_;
  my $end;
  until (($end = index $$input, "\0") >= 0) { $more->() or return undef }
  my $value = substr $$input, 0, $end;
  substr($$input, 0, $end + 1) = '';
  $value;
}

sub read_file {
  my ($path) = @_;
  open(my $file, '<', $path) or return '';
  my $text = '';
  1 while sysread $file, $text, 65536, length $text;
  $text;
}

# Reads the header and at most 10,000 rows of a socket table: a sandbox can have many more.
sub read_sockets {
  my ($path) = @_;
  open(my $file, '<', $path) or return '';
  my ($text, $rows) = ('', 0);
  while ($rows++ <= 10_000 && defined(my $row = <$file>)) { $text .= $row }
  $text;
}

# Passes the marker key of a command on a descriptor that can be read once, because every process of the sandbox can
# read the environment of the others. The variable `..._FD` has the number of the descriptor, which no script uses.
sub hand_over_key {
  my $key = delete $ENV{STEWARD_MARKS_KEY};
  return unless defined $key && length $key <= 256;
  pipe(my $reading, my $writing) or return;
  syswrite $writing, "$key\n";
  $ENV{STEWARD_MARKS_FD} = fcntl($reading, 0, 200) or delete $ENV{STEWARD_MARKS_FD};
}

# Opens a Unix socket with this name in the working folder.
sub open_listener {
  my ($name) = @_;
  unlink $name;
  socket(my $socket, 1, 1, 0) or die "no socket: $!\n";
  bind($socket, pack 'S Z108', 1, $name) && listen $socket, 128 or die "no socket $name: $!\n";
  $socket;
}

# Accepts the next connection. Returns undef unless the peer is the owner process.
sub accept_owner {
  my ($socket, $owner) = @_;
  accept(my $caller, $socket) or return undef;
  my ($pid) = unpack 'i', getsockopt $caller, 1, 17;
  $pid == $owner ? $caller : undef;
}
