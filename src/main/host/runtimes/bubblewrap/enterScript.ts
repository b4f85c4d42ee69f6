/**
 * Runs outside the sandbox under the sandbox's own uid: joins its cgroups, then its namespaces, gives up every
 * capability that a machine does not need, and only then touches what the sandbox could have changed. `nsenter` with
 * `setpriv` would load the sandbox's own libraries while still holding all capabilities. Perl belongs to every Debian,
 * starts in a millisecond and reaches the system calls without a compiler.
 * `connect` enters only the user and the network namespace, and passes bytes between stdin, stdout and a port inside.
 *
 * Arguments: mode, PID 1 of the sandbox, numbers of system calls, capabilities to keep (a bit mask), most processes
 * (0: only the cgroup limits them), count of cgroup files (file descriptors 4…), number of the pseudo-terminal, and a
 * seccomp filter in hexadecimal.
 * stdin: the request, fields that each end with NUL, for a command their number first; the end of stdin hangs up a
 * terminal, which is held open until then: a program that closes it just before its exit must not be hung up.
 * File descriptor 3: what happens, a line each:
 * `p PID` a command started, `e STAGE ERRNO` something failed, `x STATUS` how the command ended (as wait(2) says it).
 */
export const enterScript = String.raw`
use strict;
my ($mode, $target, $numbers, $keep, $processes, $cgroups, $pts, $filter) = @ARGV;
my ($setns, $prctl, $setsid, $capset, $prlimit, $memfd, $seccomp) = split /,/, $numbers;
my $pidfd_open = 434;
my ($write, $create, $calm) = (1, 64, 2048 | 256);
$0 = "steward $mode";
$SIG{FPE} = 'DEFAULT';
umask 022;
open(my $status, '>&=', 3) or exit 1;
fcntl($status, 2, 1);
sub tell_ { syswrite $status, "@_\n" }
sub fail { tell_('e', $_[0], defined $_[1] ? $_[1] : $! + 0); exit 1 }
sub send_ {
  my ($to, $bytes) = @_;
  for (my $at = 0; $at < length $bytes;) {
    my $sent = syswrite $to, $bytes, length($bytes) - $at, $at;
    defined $sent or return 0;
    $at += $sent;
  }
  1;
}
my $input = '';
sub more { my $count = sysread STDIN, $input, 262144, length $input; defined $count or fail('request'); $count }
sub field {
  my $end;
  until (($end = index $input, "\0") >= 0) { more() or return undef }
  my $value = substr $input, 0, $end;
  substr($input, 0, $end + 1) = '';
  $value;
}

for my $number (4 .. 3 + $cgroups) {
  open(my $file, '>&=', $number) or fail('cgroup');
  syswrite($file, "0\n") or fail('cgroup');
  close $file;
}
my $master;
if ($mode eq 'terminal') {
  open($master, '+<&=', 4 + $cgroups) or fail('terminal');
  my $unlocked = pack('i', 0);
  ioctl($master, 0x40045431, $unlocked) or fail('terminal');
}
my $used = fileno($master // $status);
opendir(my $open, '/proc/self/fd') or fail('files');
for my $number (grep { /^\d+$/ && $_ > $used } readdir $open) {
  open(my $file, '<&=', $number) or next;
  close $file;
}
open(my $null, '<', '/dev/null') or fail('null');
my $machine = syscall($pidfd_open, $target + 0, 0);
$machine >= 0 or fail('machine');
syscall($setns, $machine, 0x10000000) == 0 or fail('namespaces');
if (open(my $limit, '>', '/proc/sys/user/max_user_namespaces')) { syswrite $limit, '0'; close $limit }
syscall($setns, $machine, $mode eq 'connect' ? 0x40000000 : 0x6e020000) == 0 or fail('namespaces');
open(my $done, '<&=', $machine);
close $done;

sub confine {
  for my $capability (0 .. 63) {
    syscall($prctl, 24, $capability, 0, 0, 0) unless ($keep >> $capability) & 1;
  }
  syscall($prctl, 38, 1, 0, 0, 0) == 0 or fail('confine');
  my ($low, $high) = ($keep & 0xffffffff, $keep >> 32);
  my ($head, $data) = (pack('LL', 0x20080522, 0), pack('L6', $low, $low, 0, $high, $high, 0));
  syscall($capset, $head, $data) == 0 or fail('confine');
  if ($processes) { my $limit = pack('QQ', $processes, $processes); syscall($prlimit, 0, 6, $limit, 0) == 0 or fail('confine') }
}

sub filter {
  my $program = pack 'H*', $filter;
  my $list = pack 'S x![P] P', length($program) / 8, $program;
  syscall($seccomp, 1, 4, $list) == 0 or fail('confine');
}

sub command {
  my ($folder, $command, @environment) = @_;
  chdir $folder or fail('folder');
  %ENV = map { split /=/, $_, 2 } @environment;
  my $held;
  if (length $command > 120000) {
    my ($name, $text) = ('command', $command);
    my $file = syscall($memfd, $name, 0);
    open($held, '+>&=', $file) or fail('command');
    send_($held, $text) or fail('command');
    sysseek $held, 0, 0;
    fcntl($held, 2, 0);
    $command = qq{eval "exec $file<&-\n\$(cat <&$file)"};
  }
  my @arguments = ('bash', '-c', '--', $command);
  filter();
  { exec { '/usr/bin/bash' } @arguments }
  { exec { '/bin/bash' } @arguments }
  fail('command');
}

sub start {
  my ($prepare) = @_;
  my @fields = map { field() } 1 .. field();
  pipe(my $running, my $starting) or fail('pipe');
  my $child = fork;
  defined $child or fail('fork');
  if (!$child) {
    syscall($setsid);
    syscall($prctl, 1, 9, 0, 0, 0);
    confine();
    $prepare->();
    command(@fields);
  }
  close $starting;
  sysread $running, my $nothing, 1;
  tell_('p', $child);
  $child;
}

if ($mode eq 'exec') {
  pipe(my $out, my $out_end) && pipe(my $err, my $err_end) or fail('pipe');
  my $child = start(sub { open(STDIN, '<&', $null) && open(STDOUT, '>&', $out_end) && open(STDERR, '>&', $err_end) or fail('pipe') });
  close $_ for $out_end, $err_end, $null;
  my $ending = syscall($pidfd_open, $child, 0);
  my %open = (fileno($out), [$out, *STDOUT], fileno($err), [$err, *STDERR]);
  my ($ended, $left) = (0, 4 << 20);
  while (%open || !$ended) {
    my $wanted = '';
    vec($wanted, $_, 1) = 1 for keys %open, $ended ? () : $ending;
    my $count = select(my $ready = $wanted, undef, undef, $ended ? 0 : undef);
    last if $ended && ($count < 1 || $left <= 0);
    next if $count < 1;
    for my $number (keys %open) {
      next unless vec($ready, $number, 1);
      my $bytes;
      my $got = sysread $open{$number}[0], $bytes, 65536;
      if ($got) { send_($open{$number}[1], $bytes); $left -= $got if $ended }
      else { delete $open{$number} }
    }
    if (!$ended && vec($ready, $ending, 1)) { waitpid $child, 0; $ended = 1; tell_('x', $?) }
  }
}
elsif ($mode eq 'terminal') {
  my $child = start(sub {
    close $master;
    sysopen(my $tty, "/dev/pts/$pts", 2) or fail('terminal');
    open(STDIN, '+<&', $tty) && open(STDOUT, '+>&', $tty) && open(STDERR, '+>&', $tty) or fail('terminal');
    close $tty;
  });
  my $ending = syscall($pidfd_open, $child, 0);
  my $watching = 1;
  while (1) {
    my $wanted = '';
    vec($wanted, $_, 1) = 1 for $ending, $watching ? fileno(STDIN) : ();
    select(my $ready = $wanted, undef, undef, undef) > 0 or next;
    last if vec($ready, $ending, 1);
    next if sysread STDIN, my $nothing, 64;
    close $master;
    $watching = 0;
  }
  waitpid $child, 0;
  tell_('x', $?);
}
elsif ($mode eq 'connect') {
  confine();
  my $port = field();
  my ($socket, $failure);
  for ([2, pack 'S n C4 x8', 2, $port, 127, 0, 0, 1], [10, pack 'S n N x15 C N', 10, $port, 0, 1, 0]) {
    my ($family, $address) = @$_;
    last if socket($socket, $family, 1, 0) && connect $socket, $address;
    ($failure, $socket) = ($failure || $! + 0, undef);
  }
  defined $socket or fail('connect', $failure);
  setsockopt $socket, 6, 1, 1;
  $SIG{PIPE} = 'IGNORE';
  fcntl($_, 4, 2048) for $socket, *STDIN, *STDOUT;
  tell_('p', $$);
  my ($up, $down, $sending) = ($input, '', 1);
  while (1) {
    my ($readable, $writable) = ('', '');
    vec($readable, 3, 1) = 1;
    vec($readable, fileno $socket, 1) = 1 if $down eq '';
    vec($readable, 0, 1) = 1 if $sending && $up eq '';
    vec($writable, fileno $socket, 1) = 1 if $up ne '';
    vec($writable, 1, 1) = 1 if $down ne '';
    select($readable, $writable, undef, undef) > 0 or next;
    last if vec($readable, 3, 1); # the host process has gone
    if (vec($writable, 1, 1)) {
      my $sent = syswrite STDOUT, $down;
      defined $sent ? substr($down, 0, $sent, '') : $! == 11 || last;
    }
    if (vec($writable, fileno $socket, 1)) {
      my $sent = syswrite $socket, $up;
      if (defined $sent) { substr $up, 0, $sent, '' }
      elsif ($! != 11) { ($up, $sending) = ('', 0) }
    }
    if (vec($readable, fileno $socket, 1)) {
      my $got = sysread $socket, $down, 65536;
      defined $got ? $got || last : $! == 11 || last;
    }
    if (vec($readable, 0, 1)) {
      my $got = sysread STDIN, $up, 65536;
      if (!defined $got) { $! == 11 or last }
      elsif (!$got) { $sending = 0; shutdown $socket, 1 }
    }
  }
  tell_('x', 0);
}
else {
  confine();
  my $path = field();
  if ($mode eq 'read') {
    my $most = field();
    sysopen(my $file, $path, $calm) or fail('open');
    -f $file or fail('kind', 21);
    (-s $file) <= $most or fail('size', 27);
    my $sum = 0;
    while (1) {
      my $got = sysread $file, my $bytes, 262144;
      defined $got or fail('read');
      $got or last;
      ($sum += $got) <= $most or fail('size', 27);
      send_(*STDOUT, $bytes) or exit 1;
    }
  }
  elsif ($mode eq 'write') {
    my $length = field();
    my @parts = split m{/}, $path;
    for my $last (1 .. $#parts - 1) {
      my $folder = join '/', @parts[0 .. $last];
      $folder eq '' || -d $folder || mkdir($folder, 0755) or fail('folder');
    }
    sysopen(my $file, $path, $write | $create | $calm, 0644) or fail('open');
    -f $file or fail('kind', 21);
    truncate $file, 0 or fail('write');
    my $sum = 0;
    do {
      $sum += length $input;
      send_($file, $input) or fail('write');
      $input = '';
    } while more();
    $sum == $length or fail('request', 32);
    close $file or fail('write');
  }
  else {
    opendir(my $folder, $path) or fail('open');
    my $listing = '';
    while (defined(my $name = readdir $folder)) {
      next if $name eq '.' || $name eq '..';
      my ($kind, $size, $modified) = (lstat "$path/$name")[2, 7, 9];
      $listing .= join(' ', $kind & 0170000, $size, $modified, $name) . "\0" if defined $kind;
    }
    send_(*STDOUT, $listing) or exit 1;
  }
  tell_('x', 0);
}
`
