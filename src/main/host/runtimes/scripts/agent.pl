# Is PID 1 of a container, serves what the host asks over the container's stdin and stdout, buries orphans, and ends when
# stdin does. It has no more rights than what it starts; nothing that it says is trusted. Perl belongs to every Debian and
# Ubuntu image and reaches pseudo-terminals without a compiler.
#
# Messages both ways: number of a channel (4 bytes, big-endian), kind (1 byte), length (4 bytes), content. The kinds are
# given: `asks` and `answers`. Each side sends at most a `window` of bytes beyond what the other says it has used. Which
# machine the container is for shows only here, so the numbers of system calls are given as `tables`.
use POSIX ();
my $given = given();
%system_calls = %{$given->{tables}{(POSIX::uname())[4] eq 'x86_64' ? 'x64' : 'arm64'}}; # alike on all but the oldest
$0 = 'steward';
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { };
umask 022;
chdir '/';
my ($window, $piece, $most, $drain, $quiet) = ($given->{window}, 32768, 1 << 20, 8 << 20, 0.04);
my ($open, $input_, $finish, $typed, $used, $kill, $hang_up, $resize, $ping, $drop, $kill_session) =
  @{$given->{asks}}{qw(open input finish typed used kill hangUp resize ping drop killSession)};
my ($output, $errors, $news, $closed, $took, $pong, $hello) =
  @{$given->{answers}}{qw(output errors news closed took pong hello)};
my (%channels, %by_pid);
my ($input, $outgoing) = ($ARGV[1], ''); # the loader may have read more than the script
open(my $null, '+<', '/dev/null') or die "null: $!";
sub calm { my $flags = fcntl($_[0], 3, 0); fcntl($_[0], 4, $flags | 2048) }
calm($_) for *STDIN, *STDOUT;

my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
sub now { (POSIX::times())[0] / $ticks }
sub say_ { my ($id, $kind, $content) = @_; $outgoing .= pack('N C N', $id, $kind, length $content) . $content }

sub read_file {
  for my $path (@_) {
    open(my $file, '<', $path) or next;
    my $text = '';
    sysread $file, $text, 4096;
    $text =~ s/\s+\z//;
    return $text;
  }
  '';
}

sub begin {
  my ($id, $mode, @more) = @_;
  my $channel = $channels{$id} = { id => $id, mode => $mode, credit => $window, outs => {}, queue => '', typed => '' };
  return connect_($channel, @more) if $mode eq 'connect';
  my ($request, $out_end, $error_end, $status_end, $number);
  pipe($request, $channel->{request}) && pipe($channel->{status}, $status_end) or return failed($channel, 'pipe');
  if ($mode eq 'terminal') {
    my ($master, $unlocked, $index) = (undef, pack('i', 0), pack('i', 0));
    sysopen($master, '/dev/ptmx', 2 | 256) && ioctl($master, 0x40045431, $unlocked) && ioctl($master, 0x80045430, $index)
      or return failed($channel, 'terminal');
    $number = unpack 'i', $index;
    $channel->{master} = $channel->{outs}{$output} = $master;
    size($channel, @more);
  }
  else {
    pipe($channel->{outs}{$output}, $out_end) && pipe($channel->{outs}{$errors}, $error_end)
      or return failed($channel, 'pipe');
  }
  my $child = fork;
  return failed($channel, 'fork') unless defined $child;
  if (!$child) {
    eval {
      $SIG{$_} = 'DEFAULT' for 'PIPE', 'CHLD', 'FPE';
      my @others = map { my $it = $_; ($it->{request}, $it->{status}, $it->{socket}, $it->{master}, values %{$it->{outs}}) } values %channels;
      for (@others) { close $_ if defined $_ }
      POSIX::setsid();
      if (open(my $score, '>', '/proc/self/oom_score_adj')) { syswrite $score, '500'; close $score }
      serve($mode, $number, $request, $out_end, $error_end, $status_end);
    };
    syswrite STDERR, $@ if $@;
    POSIX::_exit(1);
  }
  $channel->{pid} = $child;
  $by_pid{$child} = $channel;
  calm($_) for $channel->{request}, values %{$channel->{outs}};
  my $ending = call('pidfd_open', $child, 0);
  open($channel->{ending}, '<&=', $ending) if $ending >= 0;
}

sub connect_ {
  my ($channel, $port) = @_;
  $channel->{addresses} = [[2, pack 'S n C4 x8', 2, $port, 127, 0, 0, 1], [10, pack 'S n N x15 C N', 10, $port, 0, 1, 0]];
  try_next($channel);
}

sub try_next {
  my ($channel) = @_;
  $channel->{connecting} = 0;
  while (my $next = shift @{$channel->{addresses}}) {
    my ($family, $address) = @$next;
    delete $channel->{socket};
    if (socket($channel->{socket}, $family, 1, 0)) {
      calm($channel->{socket});
      return connected($channel) if connect $channel->{socket}, $address;
      return $channel->{connecting} = 1 if $! == 115;
    }
    $channel->{failure} ||= $! + 0;
  }
  failed($channel, 'connect', $channel->{failure});
}

sub connected {
  my ($channel) = @_;
  my $failure = unpack 'i', getsockopt($channel->{socket}, 1, 4);
  if ($failure) { $channel->{failure} ||= $failure; return try_next($channel) }
  $channel->{connecting} = 0;
  setsockopt $channel->{socket}, 6, 1, 1;
  $channel->{outs}{$output} = $channel->{socket};
  say_($channel->{id}, $news, 'p 0');
}

sub failed {
  my ($channel, $stage, $number) = @_;
  $number = $! + 0 unless defined $number;
  say_($channel->{id}, $news, "e $stage $number");
  end($channel);
}

sub end {
  my ($channel) = @_;
  say_($channel->{id}, $closed, '');
  delete $channels{$channel->{id}};
  if (defined $channel->{pid} && !defined $channel->{exit}) { kill 'KILL', -$channel->{pid}, $channel->{pid} }
  shutdown $channel->{socket}, 2 if $channel->{socket};
  %$channel = (over => 1);
}

sub size { my ($channel, $columns, $rows) = @_; my $size = pack 'S4', $rows, $columns, 0, 0; ioctl $channel->{master}, 0x5414, $size if $channel->{master} }

sub kill_session {
  my ($session) = @_;
  opendir(my $processes, '/proc') or return;
  for my $pid (grep { /^\d+$/ && $_ > 1 } readdir $processes) {
    my $line = read_file("/proc/$pid/stat");
    $line =~ s/^.*\)\s//s;
    kill 'KILL', $pid if (split ' ', $line)[3] == $session;
  }
}

sub hear {
  my ($id, $kind, $content) = @_;
  if ($kind == $ping) { say_(0, $pong, ''); return }
  if ($kind == $open) { begin($id, split / /, $content); return }
  my $channel = $channels{$id} or return;
  if ($kind == $input_) { $channel->{queue} .= $content }
  elsif ($kind == $finish) { $channel->{finish} = 1 }
  elsif ($kind == $typed) { if ($channel->{master}) { $channel->{typed} .= $content } else { say_($id, $took, pack 'N', length $content) } }
  elsif ($kind == $used) { $channel->{credit} += unpack 'N', $content }
  elsif ($kind == $kill) { kill 'KILL', -$channel->{pid}, $channel->{pid} if $channel->{pid} && !defined $channel->{exit} }
  elsif ($kind == $hang_up) { delete $channel->{outs}{$output}; $channel->{typed} = ''; delete $channel->{master} }
  elsif ($kind == $resize) { size($channel, split / /, $content) }
  elsif ($kind == $kill_session) { kill_session($channel->{pid}) if $channel->{pid} && !defined $channel->{exit} }
  elsif ($kind == $drop) { end($channel) }
}

sub bury {
  while ((my $pid = waitpid -1, 1) > 0) {
    my $status = $?;
    my $channel = delete $by_pid{$pid} or next;
    next if $channel->{over};
    $channel->{exit} = $status;
    ($channel->{left}, $channel->{since}) = ($drain, now());
    delete $channel->{ending};
  }
}

sub put {
  my ($channel, $to, $queue) = @_;
  my $sent = syswrite $to, $channel->{$queue}, $piece;
  if (!defined $sent) {
    return if $! == 11 || $! == 4;
    $sent = length $channel->{$queue}; # nobody reads it any more
  }
  substr $channel->{$queue}, 0, $sent, '';
  say_($channel->{id}, $took, pack 'N', $sent);
}

sub take {
  my ($channel, $kind) = @_;
  my $limit = $channel->{credit} < $piece ? $channel->{credit} : $piece;
  my $bytes = '';
  my $got = sysread $channel->{outs}{$kind}, $bytes, $limit;
  if ($got) {
    say_($channel->{id}, $kind, $bytes);
    $channel->{credit} -= $got;
    ($channel->{left}, $channel->{since}) = ($channel->{left} - $got, now()) if defined $channel->{exit};
    return;
  }
  return if !defined $got && ($! == 11 || $! == 4);
  delete $channel->{outs}{$kind};
  if ($channel->{socket}) { say_($channel->{id}, $news, 'x 0'); end($channel) }
}

sub told {
  my ($channel) = @_;
  my $got = sysread $channel->{status}, my $bytes, 4096;
  return if !defined $got && $! == 4;
  if ($got) {
    $channel->{told} .= $bytes;
    while ($channel->{told} =~ s/^(.*)\n//) { say_($channel->{id}, $news, $1); $channel->{begun} = 1 }
    return;
  }
  delete $channel->{status};
  say_($channel->{id}, $news, "p $channel->{pid}") unless $channel->{begun};
}

# A terminal's last output comes from the kernel a little after the exit.
sub settled {
  my ($channel, $ready) = @_;
  return 0 if !defined $channel->{asked} || $channel->{status};
  return 1 if $channel->{left} <= 0 || !%{$channel->{outs}};
  return 0 if !$channel->{asked};
  for (values %{$channel->{outs}}) { return 0 if vec($ready, fileno $_, 1) }
  $channel->{mode} ne 'terminal' || now() - $channel->{since} >= $quiet;
}

my ($from, $to, $status);
sub fail { my ($stage, $number) = @_; $number = $! + 0 unless defined $number; syswrite $status, "e $stage $number\n"; POSIX::_exit(1) }
sub more { my $count = sysread $from, $input, 262144, length $input; defined $count or fail('request'); $count }
sub field { my $value = next_field(\$input, \&more); defined $value ? $value : POSIX::_exit(1) }
sub content {
  length $input or more() or fail('request', 32);
  my $bytes = $input;
  $input = '';
  $bytes;
}
sub tell_ { syswrite $status, "@_\n" }
sub put_ { send_all($to, $_[0]) or POSIX::_exit(1) }

sub serve {
  $input = '';
  (my ($mode, $number), $from, $to, my $complaints, $status) = @_;
  if ($mode eq 'exec' || $mode eq 'terminal') {
    my @fields = map { field() } 1 .. field();
    if ($mode eq 'terminal') {
      sysopen(my $tty, "/dev/pts/$number", 2) or fail('terminal');
      open(STDIN, '+<&', $tty) && open(STDOUT, '+>&', $tty) && open(STDERR, '+>&', $tty) or fail('terminal');
    }
    else { open(STDIN, '<&', $null) && open(STDOUT, '>&', $to) && open(STDERR, '>&', $complaints) or fail('pipe') }
    command(@fields);
  }
  if ($mode eq 'processes') { processes() }
  elsif ($mode eq 'ports') { send_all($to, join "\0", map { read_sockets($_) } '/proc/net/tcp', '/proc/net/tcp6') }
  elsif ($mode eq 'foreground') { foreground(field()) }
  elsif ($mode eq 'signal') { my ($pid, $name) = (field(), field()); $pid > 1 && kill $name, $pid or fail('signal', 3) }
  elsif ($mode eq 'read') { read_content() }
  elsif ($mode eq 'write') { write_content() }
  else { file_() }
  POSIX::_exit(0);
}

sub command {
  my ($folder, $command, @environment) = @_;
  chdir $folder or fail('folder');
  %ENV = map { split /=/, $_, 2 } @environment;
  hand_over_key();
  my $held;
  if (length $command > 120000) { # Linux takes at most 128 KB as one argument
    open($held, '+>', undef) && send_all($held, $command) or fail('command');
    sysseek $held, 0, 0;
    fcntl $held, 2, 0;
    my $file = fileno $held;
    $command = qq{eval "exec $file<&-\n\$(cat <&$file)"};
  }
  my @arguments = ('bash', '-c', '--', $command);
  { exec { '/usr/bin/bash' } @arguments }
  { exec { '/bin/bash' } @arguments }
  fail('command');
}

sub fields_of { my ($rest) = read_whole("/proc/$_[0]/stat") =~ /^\d+ \(.*\) (.*)$/s or return; split ' ', $rest }

# The name of the program in the foreground of a session's terminal; nothing while that is the session's leader. `comm` is
# in the kernel's own memory: in its arguments a program can let the reader wait for ever.
sub foreground {
  my ($leader) = @_;
  $leader =~ /^[1-9]\d*\z/ or return;
  my $group = (fields_of($leader))[5];
  return unless defined $group && $group > 0 && $group != $leader;
  my $name = read_whole("/proc/$group/comm");
  my $session = (fields_of($group))[3];
  send_all($to, $name) if defined $session && $session == $leader;
}

# Per process: number, parent, user, ticks of the processor, resident pages, ticks from the boot to its start, command.
sub processes {
  my ($boot) = read_whole('/proc/stat') =~ /^btime (\d+)/m;
  send_all($to, join("\0", $ticks, POSIX::sysconf(POSIX::_SC_PAGESIZE()), $boot, '') . "\n");
  opendir(my $all, '/proc') or fail('open');
  for my $pid (grep { /^\d+$/ && $_ != $$ } readdir $all) {
    my ($name, $rest) = read_whole("/proc/$pid/stat") =~ /^\d+ \((.*)\) (.*)$/s or next;
    my ($user) = (stat "/proc/$pid")[4];
    defined $user or next;
    my @fields = split ' ', $rest;
    my $command = join ' ', split /[\0-\x1f\x7f]+/, substr read_whole("/proc/$pid/cmdline"), 0, 8192;
    $command = "[$name]" unless length $command;
    $command =~ s/[\0-\x1f]/ /g;
    send_all($to, join("\0", $pid, $fields[1], (getpwuid $user) || $user, $fields[11] + $fields[12], $fields[21], $fields[19], $command) . "\n");
  }
}

my $tell = '';
my $cgroup = '/sys/fs/cgroup';
$tell .= "memory=" . read_file("$cgroup/memory.max", "$cgroup/memory/memory.limit_in_bytes") . "\n";
$tell .= "cpu=" . read_file("$cgroup/cpu.max", "$cgroup/cpu/cpu.cfs_quota_us", "$cgroup/cpu,cpuacct/cpu.cfs_quota_us") . "\n";
$tell .= "processes=" . read_file("$cgroup/pids.max", "$cgroup/pids/pids.max") . "\n";
$tell .= "bash=" . ((-x '/usr/bin/bash' || -x '/bin/bash') ? 'yes' : 'no') . "\n";
say_(0, $hello, $tell);

while (1) {
  bury();
  my ($reading, $writing, $wait) = ('', '', 10);
  vec($reading, 0, 1) = 1;
  vec($writing, 1, 1) = 1 if $outgoing ne '';
  my $room = length $outgoing <= $most;
  for my $channel (values %channels) {
    vec($reading, fileno $channel->{status}, 1) = 1 if $channel->{status};
    if ($channel->{connecting}) { vec($writing, fileno $channel->{socket}, 1) = 1; next }
    if ($room && $channel->{credit} > 0) { vec($reading, fileno $_, 1) = 1 for values %{$channel->{outs}} }
    my $into = $channel->{request} // $channel->{socket};
    vec($writing, fileno $into, 1) = 1 if $into && $channel->{queue} ne '';
    vec($writing, fileno $channel->{master}, 1) = 1 if $channel->{master} && $channel->{typed} ne '';
    if (defined $channel->{exit}) {
      $channel->{asked} = $room && $channel->{credit} > 0;
      $wait = $channel->{mode} eq 'terminal' ? 0.01 : 0 if $channel->{left} <= 0 || !%{$channel->{outs}} || ($room && $channel->{credit} > 0);
    }
    elsif ($channel->{ending}) { vec($reading, fileno $channel->{ending}, 1) = 1 }
    elsif ($channel->{pid}) { $wait = 0.02 if $wait > 0.02 }
  }
  my $count = select($reading, $writing, undef, $wait);
  if ($count < 0) { ($reading, $writing) = ('', ''); bury(); next }
  bury() if $count > 0;
  if (vec($reading, 0, 1)) {
    my $got = sysread STDIN, $input, 262144, length $input;
    exit 0 if defined $got && !$got;
    while (length $input >= 9) {
      my ($id, $kind, $length) = unpack 'N C N', $input;
      last if length $input < 9 + $length;
      my $content = substr $input, 9, $length;
      substr $input, 0, 9 + $length, '';
      hear($id, $kind, $content);
    }
  }
  for my $channel (values %channels) {
    told($channel) if $channel->{status} && vec($reading, fileno $channel->{status}, 1);
    if ($channel->{connecting}) {
      connected($channel) if vec($writing, fileno $channel->{socket}, 1);
      next;
    }
    for my $kind (keys %{$channel->{outs}}) {
      my $from = $channel->{outs}{$kind} or next;
      take($channel, $kind) if $channel->{credit} > 0 && vec($reading, fileno $from, 1);
    }
    next if $channel->{over};
    my $into = $channel->{request} // $channel->{socket};
    put($channel, $into, 'queue') if $into && $channel->{queue} ne '';
    if ($channel->{finish} && $channel->{queue} eq '' && $into) {
      if ($channel->{socket}) { shutdown $channel->{socket}, 1 } else { delete $channel->{request} }
      $channel->{finish} = 0;
    }
    put($channel, $channel->{master}, 'typed') if $channel->{master} && $channel->{typed} ne '';
    if (settled($channel, $reading)) {
      say_($channel->{id}, $news, "x $channel->{exit}");
      end($channel);
    }
  }
  if ($outgoing ne '') {
    my $sent = syswrite STDOUT, $outgoing, 262144;
    if ($sent) { substr $outgoing, 0, $sent, '' }
    elsif (!defined $sent && $! != 11 && $! != 4) { exit 0 }
  }
}
