# What every helper script has. Only what Debian's `perl-base` brings may be used: no JSON::PP, no Socket messages.
# A script gets one argument, a JSON object, which `given` reads; `calls` in it numbers the system calls by name.
use strict;

# Flags of open(2), alike on every architecture.
sub O_WRONLY() { 1 }
sub O_CREAT() { 64 }
sub O_NOCTTY() { 256 }
sub O_NONBLOCK() { 2048 }
sub AT_FDCWD() { -100 }

my %system_calls;
sub given {
  my $given = from_json($ARGV[0]);
  %system_calls = %{$given->{calls}};
  $given;
}

# `call('mount', $from, $to, ...)`: numbers are passed as they are, strings by their address, so that the kernel can
# write into a variable. A literal is copied first. Returns what syscall does: -1 with `$!` when it failed.
sub call {
  my $name = shift;
  my $number = $system_calls{$name};
  defined $number or die "No number is known for the system call $name.\n";
  for my $index (0 .. $#_) {
    Internals::SvREADONLY($_[$index]) or next;
    my $copy = $_[$index];
    splice @_, $index, 1, $copy;
  }
  syscall $number, @_;
}

# Numbers of getrlimit(2), alike on every architecture.
sub RLIMIT_NPROC() { 6 }
sub RLIMIT_NOFILE() { 7 }
sub RLIMIT_SIGPENDING() { 11 }
sub RLIMIT_MSGQUEUE() { 12 }

# 0 is this process.
sub limit_resource {
  my ($pid, $resource, $most) = @_;
  my $limit = pack 'QQ', $most, $most;
  call('prlimit64', $pid, $resource, $limit, 0) == 0 or die "cannot limit its resources: $!\n";
}
# The soft limit of this process and the hard one.
sub resource_limits {
  my ($resource) = @_;
  my $limits = "\0" x 16;
  call('prlimit64', 0, $resource, 0, $limits) == 0 or die "cannot read its limits: $!\n";
  unpack 'QQ', $limits;
}

# Strings of JSON become bytes of UTF-8, and half of a surrogate pair becomes U+FFFD. `true` becomes 1, `false` 0 and
# `null` undef. Dies with a sentence on anything else than one whole JSON value.
sub from_json {
  my ($text) = @_;
  defined $text or die "JSON is missing.\n";
  pos($text) = 0;
  my $value = json_value($text);
  $text =~ /\G[ \t\r\n]*\z/gc or json_wrong($text);
  $value;
}
sub json_wrong { die 'This is not JSON from byte ' . (pos($_[0]) || 0) . " on.\n" }
# These work on the caller's text, which keeps the place that was reached.
sub json_value {
  $_[0] =~ /\G[ \t\r\n]*/gc;
  if ($_[0] =~ /\G"/gc) { json_string($_[0]) }
  elsif ($_[0] =~ /\G(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/gc) { 0 + $1 }
  elsif ($_[0] =~ /\G\{/gc) { json_object($_[0]) }
  elsif ($_[0] =~ /\G\[/gc) { json_array($_[0]) }
  elsif ($_[0] =~ /\Gtrue/gc) { 1 }
  elsif ($_[0] =~ /\Gfalse/gc) { 0 }
  elsif ($_[0] =~ /\Gnull/gc) { undef }
  else { json_wrong($_[0]) }
}
sub json_array {
  my @values;
  return \@values if $_[0] =~ /\G[ \t\r\n]*\]/gc;
  while (1) {
    push @values, scalar json_value($_[0]);
    return \@values if $_[0] =~ /\G[ \t\r\n]*\]/gc;
    $_[0] =~ /\G[ \t\r\n]*,/gc or json_wrong($_[0]);
  }
}
sub json_object {
  my %values;
  return \%values if $_[0] =~ /\G[ \t\r\n]*\}/gc;
  while (1) {
    $_[0] =~ /\G[ \t\r\n]*"/gc or json_wrong($_[0]);
    my $key = json_string($_[0]);
    $_[0] =~ /\G[ \t\r\n]*:/gc or json_wrong($_[0]);
    $values{$key} = json_value($_[0]);
    return \%values if $_[0] =~ /\G[ \t\r\n]*\}/gc;
    $_[0] =~ /\G[ \t\r\n]*,/gc or json_wrong($_[0]);
  }
}
sub json_string {
  my $string = '';
  while (1) {
    if ($_[0] =~ /\G([^"\\\x00-\x1f]+)/gc) { $string .= $1 }
    elsif ($_[0] =~ /\G"/gc) { return $string }
    elsif ($_[0] =~ /\G\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/gc) {
      $string .= json_character(0x10000 + ((hex($1) & 0x3ff) << 10) + (hex($2) & 0x3ff));
    }
    elsif ($_[0] =~ /\G\\u[dD][89a-fA-F][0-9a-fA-F]{2}/gc) { $string .= json_character(0xfffd) }
    elsif ($_[0] =~ /\G\\u([0-9a-fA-F]{4})/gc) { $string .= json_character(hex $1) }
    elsif ($_[0] =~ /\G\\(["\\\/])/gc) { $string .= $1 }
    elsif ($_[0] =~ /\G\\([bfnrt])/gc) { $string .= { b => "\b", f => "\f", n => "\n", r => "\r", t => "\t" }->{$1} }
    else { json_wrong($_[0]) }
  }
}
sub json_character { my $character = chr $_[0]; utf8::encode($character); $character }

# Bytes of strings stay as they are. What was only ever used as a number is written as one; `\1` and `\0` are the
# booleans.
sub to_json {
  my ($value) = @_;
  my $kind = ref $value;
  if ($kind eq 'HASH') { '{' . join(',', map { json_quoted($_) . ':' . to_json($value->{$_}) } sort keys %$value) . '}' }
  elsif ($kind eq 'ARRAY') { '[' . join(',', map { to_json($_) } @$value) . ']' }
  elsif ($kind eq 'SCALAR') { $$value ? 'true' : 'false' }
  elsif ($kind ne '') { die "A $kind has no place in JSON.\n" }
  elsif (!defined $value) { 'null' }
  elsif (($value ^ $value) eq '0') { json_number($value) } # of strings this makes as many NULs
  else { json_quoted($value) }
}
sub json_number {
  my ($number) = @_;
  $number - $number == 0 or die "$number has no place in JSON.\n";
  my $short = "$number"; # may have lost digits
  $short =~ /\A-?[0-9]+\z/ && $short == $number ? $short : sprintf '%.17g', $number;
}
sub json_quoted {
  my ($string) = @_;
  $string =~ s/([\x00-\x1f"\\])/sprintf '\\u%04x', ord $1/ge;
  qq{"$string"};
}

# Returns true when all was written.
sub send_all {
  my ($to, $bytes) = @_;
  for (my $at = 0; $at < length $bytes;) {
    my $sent = syswrite $to, $bytes, length($bytes) - $at, $at;
    if (defined $sent) { $at += $sent }
    elsif ($! != 4) { return 0 }
  }
  1;
}

# Takes the next field, which ends with NUL, off `$$input`. `$more->()` adds to it, and returns false at the end: then
# there is no field.
sub next_field {
  my ($input, $more) = @_;
  my $end;
  until (($end = index $$input, "\0") >= 0) { $more->() or return undef }
  my $value = substr $$input, 0, $end;
  substr($$input, 0, $end + 1) = '';
  $value;
}

sub read_whole {
  my ($path) = @_;
  open(my $file, '<', $path) or return '';
  my $text = '';
  1 while sysread $file, $text, 65536, length $text;
  $text;
}

# The head and the first rows of a table of sockets: a sandbox may have many thousands.
sub read_sockets {
  my ($path) = @_;
  open(my $file, '<', $path) or return '';
  my ($text, $rows) = ('', 0);
  while ($rows++ <= 10_000 && defined(my $row = <$file>)) { $text .= $row }
  $text;
}

# A key among the variables of a command goes to it on a descriptor that can be read once: the environment of a process
# stays readable for every other of the sandbox. The variable `..._FD` tells the number, which no script uses.
sub hand_over_key {
  my $key = delete $ENV{STEWARD_MARKS_KEY};
  return unless defined $key && length $key <= 256;
  pipe(my $reading, my $writing) or return;
  syswrite $writing, "$key\n";
  $ENV{STEWARD_MARKS_FD} = fcntl($reading, 0, 200) or delete $ENV{STEWARD_MARKS_FD};
}

# A Unix socket of this name in the working folder.
sub listener {
  my ($name) = @_;
  unlink $name;
  socket(my $socket, 1, 1, 0) or die "no socket: $!\n";
  bind($socket, pack 'S Z108', 1, $name) && listen $socket, 128 or die "no socket $name: $!\n";
  $socket;
}

# Whoever comes to the socket next, if it is this process.
sub admitted {
  my ($socket, $owner) = @_;
  accept(my $caller, $socket) or return undef;
  my ($pid) = unpack 'i', getsockopt $caller, 1, 17;
  $pid == $owner ? $caller : undef;
}
