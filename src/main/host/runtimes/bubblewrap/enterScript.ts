import { perlPart } from '../perlScript.ts'
import { enterKinds } from './enterMessages.ts'

/**
 * Runs outside the sandbox's process namespace under the sandbox's own uid: joins its cgroups, then its namespaces,
 * gives up every capability that a machine does not need, and only then touches what the sandbox could have changed.
 * `nsenter` with `setpriv` would load the sandbox's own libraries while still holding all capabilities. Perl belongs to
 * every Debian, starts in a millisecond and reaches the system calls without a compiler.
 *
 * As the keeper of a machine (with the name of a socket, which it makes in its working folder) it waits for requests of
 * the process that started it and forks for each. Without a name it serves one request on file descriptor 3 itself.
 * `connect` enters only the user and the network namespace.
 *
 * Arguments: name of the socket, number of the process that starts it, the sandbox's uid when it is to become that,
 * numbers of system calls, capabilities to keep (a bit mask), most processes (0: only the cgroup limits them), count of
 * cgroup files (file descriptors 4…), count of masters of a terminal (0 or 1, after them), a seccomp filter in
 * hexadecimal.
 * File descriptor 3: PID 1 of the sandbox, then the request. A keeper tells `ready` instead, and ends with its end.
 * A request is fields that each end with NUL, the mode first. Its answer is messages: what it is (1 byte) and its
 * length (4 bytes, big-endian), then it: 1 and 2 are the command's outputs, 3 tells in a line what happens:
 * `h` somebody serves the request, `p PID` a command started, `e STAGE ERRNO` something failed, `x STATUS` how the
 * command ended (as wait(2) says it). For a command any byte afterwards kills its process group, and so does the end of
 * the connection. For a terminal that end lets go of its master, which is held until then: a program that closes its
 * side just before its exit must not be hung up. For `connect` pieces follow with their length (4 bytes) before them, an
 * empty one for the last; the answer from `p` on is what the port sends, as it is.
 */
export const enterScript = String.raw`
${perlPart('shared')}
# line 1 "enterScript"
my ($name, $owner, $uid, $numbers, $keep, $processes, $cgroups, $masters, $filter) = @ARGV;
my ($setns, $prctl, $setsid, $capset, $prlimit, $memfd, $seccomp, $setresuid, $setresgid, $statx, $renameat2) = split /,/, $numbers;
%system_calls = (statx => $statx, renameat2 => $renameat2);
my $pidfd_open = 434;
my ($write, $create, $calm) = (1, 64, 2048 | 256);
my ($output, $errors, $news) = (${enterKinds.output}, ${enterKinds.errors}, ${enterKinds.news});
$0 = 'steward keeper';
$SIG{FPE} = 'DEFAULT';
$SIG{PIPE} = sub {}; # unlike IGNORE this is not passed on to a command
my ($peer, $listener, $master, $inside);
my $input = '';
sub send_ {
  my ($to, $bytes) = @_;
  for (my $at = 0; $at < length $bytes;) {
    my $sent = syswrite $to, $bytes, length($bytes) - $at, $at;
    defined $sent or return 0;
    $at += $sent;
  }
  1;
}
sub say_ { send_($peer, pack('CN', $_[0], length $_[1]) . $_[1]) }
sub tell_ { say_($news, "@_\n") }
# A socket that is closed with something unread in it may cost the other side what it has not read yet.
sub finish { shutdown $peer, 1; 1 while sysread $peer, my $rest, 65536 }
sub leave { finish(); exit }
sub fail { tell_('e', $_[0], defined $_[1] ? $_[1] : $! + 0); $inside ? exit 1 : leave() }
sub more { my $count = sysread $peer, $input, 262144, length $input; defined $count or fail('request'); $count }
sub field {
  my $end;
  until (($end = index $input, "\0") >= 0) { more() or return undef }
  my $value = substr $input, 0, $end;
  substr($input, 0, $end + 1) = '';
  $value;
}

sub put_ { say_($output, $_[0]) or exit }
sub content {
  length $input or more() or fail('request', 32);
  my $bytes = $input;
  $input = '';
  $bytes;
}
${perlPart('files')}
# line 78 "enterScript"
open($peer, '+<&=', 3) && fcntl($peer, 2, 1) or exit 1;
if ($masters) {
  my $unlocked = pack('i', 0);
  open($master, '+<&=', 4 + $cgroups) && fcntl($master, 2, 1) && ioctl($master, 0x40045431, $unlocked) or exit 1;
}
if (length $name) {
  unlink $name;
  umask 0177;
  socket($listener, 1, 1, 0) && bind($listener, pack 'S Z108', 1, $name) && listen $listener, 128 or fail('socket');
  chdir '/' or fail('socket');
}
umask 022;
for my $number (4 .. 3 + $cgroups) {
  open(my $file, '>&=', $number) or fail('cgroup');
  syswrite($file, "0\n") or fail('cgroup');
  close $file;
}
my %own = map { $_ => 1 } 0 .. 2, map { fileno $_ } grep { defined } $peer, $listener, $master;
opendir(my $open, '/proc/self/fd') or fail('files');
for my $number (grep { /^\d+$/ && !$own{$_} } readdir $open) {
  open(my $file, '<&=', $number) or next;
  close $file;
}
closedir $open;
if (length $uid) {
  my $number = $uid + 0;
  $) = "$uid $uid";
  syscall($setresgid, $number, $number, $number) == 0 or fail('user');
  syscall($setresuid, $number, $number, $number) == 0 or fail('user');
}
my $machine = syscall($pidfd_open, field() + 0, 0);
$machine >= 0 or fail('machine');
syscall($setns, $machine, 0x10000000) == 0 or fail('namespaces');
if (open(my $limit, '>', '/proc/sys/user/max_user_namespaces')) { syswrite $limit, '0'; close $limit }
for my $capability (0 .. 63) {
  syscall($prctl, 24, $capability, 0, 0, 0) unless ($keep >> $capability) & 1;
}
syscall($prctl, 38, 1, 0, 0, 0) == 0 or fail('confine');
syscall($prctl, 4, 0, 0, 0, 0) == 0 or fail('confine'); # nobody may look into it
my $program = pack 'H*', $filter;
my $list = pack 'S x![P] P', length($program) / 8, $program;
syscall($seccomp, 1, 4, $list) == 0 or fail('confine');
my ($low, $high) = ($keep & 0xffffffff, $keep >> 32);
my ($head, $data) = (pack('LL', 0x20080522, 0), pack('L6', $low, $low, 0, $high, $high, 0));

sub confine {
  syscall($capset, $head, $data) == 0 or fail('confine');
  if ($processes) { my $limit = pack('QQ', $processes, $processes); syscall($prlimit, 0, 6, $limit, 0) == 0 or fail('confine') }
}

sub join_ {
  syscall($setns, $machine, $_[0]) == 0 or fail('namespaces');
  open(my $done, '<&=', $machine);
  close $done;
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
    $inside = 1;
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

sub run {
  pipe(my $out, my $out_end) && pipe(my $err, my $err_end) or fail('pipe');
  my $child = start(sub { open(STDOUT, '>&', $out_end) && open(STDERR, '>&', $err_end) or fail('pipe') });
  close $_ for $out_end, $err_end;
  kill 'KILL', -$child if length $input;
  my $ending = syscall($pidfd_open, $child, 0);
  my %open = (fileno($out), [$out, $output], fileno($err), [$err, $errors]);
  my ($ended, $left) = (0, 4 << 20);
  while (%open || !$ended) {
    my $wanted = '';
    vec($wanted, $_, 1) = 1 for keys %open, $ended ? () : ($ending, fileno $peer);
    my $count = select(my $ready = $wanted, undef, undef, $ended ? 0 : undef);
    last if $ended && ($count < 1 || $left <= 0);
    next if $count < 1;
    if (!$ended && vec($ready, fileno $peer, 1)) {
      kill 'KILL', -$child;
      sysread $peer, my $nothing, 64 or exit;
    }
    for my $number (keys %open) {
      next unless vec($ready, $number, 1);
      my $got = sysread $open{$number}[0], my $bytes, 65536;
      if (!$got) { delete $open{$number}; next }
      $left -= $got if $ended;
      say_($open{$number}[1], $bytes) and next;
      kill 'KILL', -$child unless $ended;
      exit;
    }
    if (!$ended && vec($ready, $ending, 1)) { waitpid $child, 0; $ended = 1; tell_('x', $?) }
  }
}

sub terminal {
  my $pts = field();
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
    vec($wanted, $_, 1) = 1 for $ending, $watching ? fileno $peer : ();
    select(my $ready = $wanted, undef, undef, undef) > 0 or next;
    last if vec($ready, $ending, 1);
    next if sysread $peer, my $nothing, 64;
    close $master;
    $watching = 0;
  }
  waitpid $child, 0;
  tell_('x', $?);
}

sub connect_ {
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
  tell_('p', $$);
  fcntl($_, 4, 2048) for $socket, $peer;
  my ($down, $sending, $piece) = ('', 1, 0);
  while (1) {
    if (!$sending) { $input = '' }
    elsif (!$piece && length $input >= 4) {
      $piece = unpack 'N', substr $input, 0, 4, '';
      if (!$piece) { $sending = 0; shutdown $socket, 1 }
    }
    my $up = $sending && $piece && $input ne '';
    my ($readable, $writable) = ('', '');
    vec($readable, fileno $socket, 1) = 1 if $down eq '';
    vec($readable, fileno $peer, 1) = 1 unless $up;
    vec($writable, fileno $socket, 1) = 1 if $up;
    vec($writable, fileno $peer, 1) = 1 if $down ne '';
    select($readable, $writable, undef, undef) > 0 or next;
    if (vec($writable, fileno $peer, 1)) {
      my $sent = syswrite $peer, $down;
      defined $sent ? substr($down, 0, $sent, '') : $! == 11 || exit;
    }
    if (vec($readable, fileno $socket, 1)) {
      my $got = sysread $socket, $down, 65536;
      defined $got ? $got || last : $! == 11 || last;
    }
    if (vec($writable, fileno $socket, 1)) {
      my $sent = syswrite $socket, $input, $piece < length $input ? $piece : length $input;
      if (defined $sent) { $piece -= $sent; substr $input, 0, $sent, '' }
      elsif ($! != 11) { $sending = 0 }
    }
    if (vec($readable, fileno $peer, 1)) {
      my $got = sysread $peer, $input, 65536, length $input;
      defined $got ? $got || exit : $! == 11 || exit;
    }
  }
  fcntl($peer, 4, 0);
}

sub read_ {
  my ($path, $most) = (field(), field());
  sysopen(my $file, $path, $calm) or fail('open');
  -f $file or fail('kind', 21);
  (-s $file) <= $most or fail('size', 27);
  my $sum = 0;
  while (1) {
    my $got = sysread $file, my $bytes, 262144;
    defined $got or fail('read');
    $got or last;
    ($sum += $got) <= $most or fail('size', 27);
    say_($output, $bytes) or exit;
  }
  tell_('x', 0);
}

sub write_ {
  my ($path, $length) = (field(), field());
  my @parts = split m{/}, $path;
  for my $last (1 .. $#parts - 1) {
    my $folder = join '/', @parts[0 .. $last];
    $folder eq '' || -d $folder || mkdir($folder, 0755) or fail('folder');
  }
  sysopen(my $file, $path, $write | $create | $calm, 0644) or fail('open');
  -f $file or fail('kind', 21);
  truncate $file, 0 or fail('write');
  for (my $left = $length;;) {
    ($left -= length $input) >= 0 or fail('request', 7);
    send_($file, $input) or fail('write');
    $input = '';
    $left or last;
    more() or fail('request', 32);
  }
  close $file or fail('write');
  tell_('x', 0);
}

sub serve {
  tell_('h');
  my $mode = field();
  defined $mode or exit;
  $0 = "steward $mode";
  join_($mode eq 'connect' ? 0x40000000 : 0x6e020000);
  if ($mode eq 'exec') { run() }
  elsif ($mode eq 'terminal') { terminal() }
  elsif ($mode eq 'connect') { connect_() }
  else {
    confine();
    if ($mode eq 'read') { read_() }
    elsif ($mode eq 'write') { write_() }
    else { file_(); tell_('x', 0) }
  }
  leave();
}

serve() unless $listener;

syscall($prctl, 1, 9, 0, 0, 0);
getppid() == $owner or exit 1;
open(STDERR, '>', '/dev/null') or fail('null');
$SIG{CHLD} = 'IGNORE';
tell_('ready');
my ($control, $wanted) = ($peer, '');
vec($wanted, fileno $_, 1) = 1 for $control, $listener;
while (1) {
  select(my $ready = $wanted, undef, undef, undef) > 0 or next;
  last if vec($ready, fileno $control, 1);
  accept(my $caller, $listener) or next;
  my ($pid) = unpack 'i', getsockopt $caller, 1, 17;
  $pid == $owner or next;
  my $child = fork;
  $peer = $caller;
  if (!defined $child) { tell_('e', 'room', $! + 0); finish() }
  elsif (!$child) {
    close $_ for $listener, $control;
    $SIG{CHLD} = 'DEFAULT';
    serve();
  }
  close $peer;
}
`
