# Runs as PID 1 of a container. Serves requests of the host over stdin and stdout, reaps orphans, and exits when stdin
# ends. Has no more rights than the processes that it starts; the host trusts none of its output. Every Debian and
# Ubuntu image has Perl, which can open pseudo-terminals without a compiler. Requires `files` and `exec`.
#
# Messages in both directions: channel number (4 bytes, big-endian), kind (1 byte), length (4 bytes), content. The
# options `requests` and `responses` have the kinds. Each side sends at most `window` bytes beyond what the other has
# acknowledged. The architecture of the container is only known here, so `tables` has the system call numbers of all
# architectures.
use POSIX ();
my $options = read_options();
%system_calls = %{$options->{tables}{(POSIX::uname())[4] eq 'x86_64' ? 'x64' : 'arm64'}}; # the same on all but the oldest
$0 = 'steward';
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { };
umask 022;
chdir '/';
my ($window, $chunk, $max, $drain, $quiet) = ($options->{window}, 32768, 1 << 20, 8 << 20, 0.04);
my ($open, $input_kind, $finish, $typed, $used, $kill, $hang_up, $resize, $ping, $drop, $kill_session) =
  @{$options->{requests}}{qw(open input finish typed used kill hangUp resize ping drop killSession)};
my ($output, $errors, $event, $closed, $took, $pong, $hello) =
  @{$options->{responses}}{qw(output errors status closed took pong hello)};
my (%channels, %by_pid);
my ($input, $outgoing) = ($ARGV[1], ''); # the loader may have read more than the script
open(my $null, '+<', '/dev/null') or die "null: $!";
sub set_nonblocking { my $flags = fcntl($_[0], 3, 0); fcntl($_[0], 4, $flags | 2048) }
set_nonblocking($_) for *STDIN, *STDOUT;

my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
sub get_seconds { (POSIX::times())[0] / $ticks }
sub send_message { my ($id, $kind, $content) = @_; $outgoing .= pack('N C N', $id, $kind, length $content) . $content }

sub read_first_file {
  for my $path (@_) {
    open(my $file, '<', $path) or next;
    my $text = '';
    sysread $file, $text, 4096;
    $text =~ s/\s+\z//;
    return $text;
  }
  '';
}

sub open_channel {
  my ($id, $mode, @more) = @_;
  my $channel = $channels{$id} = { id => $id, mode => $mode, credit => $window, outs => {}, queue => '', terminal_input => '' };
  return connect_channel($channel, @more) if $mode eq 'connect';
  my ($request, $out_end, $error_end, $status_end, $number);
  pipe($request, $channel->{request}) && pipe($channel->{status}, $status_end) or return fail_channel($channel, 'pipe');
  if ($mode eq 'terminal') {
    my ($master, $unlocked, $index) = (undef, pack('i', 0), pack('i', 0));
    sysopen($master, '/dev/ptmx', 2 | 256) && ioctl($master, 0x40045431, $unlocked) && ioctl($master, 0x80045430, $index)
      or return fail_channel($channel, 'terminal');
    $number = unpack 'i', $index;
    $channel->{master} = $channel->{outs}{$output} = $master;
    resize_terminal($channel, @more);
  }
  else {
    pipe($channel->{outs}{$output}, $out_end) && pipe($channel->{outs}{$errors}, $error_end)
      or return fail_channel($channel, 'pipe');
  }
  my $child = fork;
  return fail_channel($channel, 'fork') unless defined $child;
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
  set_nonblocking($_) for $channel->{request}, values %{$channel->{outs}};
  my $ending = call('pidfd_open', $child, 0);
  open($channel->{ending}, '<&=', $ending) if $ending >= 0;
}

sub connect_channel {
  my ($channel, $port) = @_;
  $channel->{addresses} = [[2, pack 'S n C4 x8', 2, $port, 127, 0, 0, 1], [10, pack 'S n N x15 C N', 10, $port, 0, 1, 0]];
  connect_next($channel);
}

sub connect_next {
  my ($channel) = @_;
  $channel->{connecting} = 0;
  while (my $next = shift @{$channel->{addresses}}) {
    my ($family, $address) = @$next;
    delete $channel->{socket};
    if (socket($channel->{socket}, $family, 1, 0)) {
      set_nonblocking($channel->{socket});
      return complete_connection($channel) if connect $channel->{socket}, $address;
      return $channel->{connecting} = 1 if $! == 115;
    }
    $channel->{failure} ||= $! + 0;
  }
  fail_channel($channel, 'connect', $channel->{failure});
}

sub complete_connection {
  my ($channel) = @_;
  my $failure = unpack 'i', getsockopt($channel->{socket}, 1, 4);
  if ($failure) { $channel->{failure} ||= $failure; return connect_next($channel) }
  $channel->{connecting} = 0;
  setsockopt $channel->{socket}, 6, 1, 1;
  $channel->{outs}{$output} = $channel->{socket};
  send_message($channel->{id}, $event, 'p 0');
}

sub fail_channel {
  my ($channel, $stage, $number) = @_;
  $number = $! + 0 unless defined $number;
  send_message($channel->{id}, $event, "e $stage $number");
  close_channel($channel);
}

sub close_channel {
  my ($channel) = @_;
  send_message($channel->{id}, $closed, '');
  delete $channels{$channel->{id}};
  if (defined $channel->{pid} && !defined $channel->{exit}) { kill 'KILL', -$channel->{pid}, $channel->{pid} }
  shutdown $channel->{socket}, 2 if $channel->{socket};
  %$channel = (closed => 1);
}

sub resize_terminal { my ($channel, $columns, $rows) = @_; my $size = pack 'S4', $rows, $columns, 0, 0; ioctl $channel->{master}, 0x5414, $size if $channel->{master} }

sub kill_session {
  my ($session) = @_;
  opendir(my $processes, '/proc') or return;
  for my $pid (grep { /^\d+$/ && $_ > 1 } readdir $processes) {
    my $line = read_first_file("/proc/$pid/stat");
    $line =~ s/^.*\)\s//s;
    kill 'KILL', $pid if (split ' ', $line)[3] == $session;
  }
}

sub handle_message {
  my ($id, $kind, $content) = @_;
  if ($kind == $ping) { send_message(0, $pong, ''); return }
  if ($kind == $open) { open_channel($id, split / /, $content); return }
  my $channel = $channels{$id} or return;
  if ($kind == $input_kind) { $channel->{queue} .= $content }
  elsif ($kind == $finish) { $channel->{finish} = 1 }
  elsif ($kind == $typed) { if ($channel->{master}) { $channel->{terminal_input} .= $content } else { send_message($id, $took, pack 'N', length $content) } }
  elsif ($kind == $used) { $channel->{credit} += unpack 'N', $content }
  elsif ($kind == $kill) { kill 'KILL', -$channel->{pid}, $channel->{pid} if $channel->{pid} && !defined $channel->{exit} }
  elsif ($kind == $hang_up) { delete $channel->{outs}{$output}; $channel->{terminal_input} = ''; delete $channel->{master} }
  elsif ($kind == $resize) { resize_terminal($channel, split / /, $content) }
  elsif ($kind == $kill_session) { kill_session($channel->{pid}) if $channel->{pid} && !defined $channel->{exit} }
  elsif ($kind == $drop) { close_channel($channel) }
}

sub reap_children {
  while ((my $pid = waitpid -1, 1) > 0) {
    my $status = $?;
    my $channel = delete $by_pid{$pid} or next;
    next if $channel->{closed};
    $channel->{exit} = $status;
    ($channel->{remaining}, $channel->{last_read_at}) = ($drain, get_seconds());
    delete $channel->{ending};
  }
}

sub flush_queue {
  my ($channel, $to, $queue) = @_;
  my $sent = syswrite $to, $channel->{$queue}, $chunk;
  if (!defined $sent) {
    return if $! == 11 || $! == 4;
    $sent = length $channel->{$queue}; # the reader is closed
  }
  substr $channel->{$queue}, 0, $sent, '';
  send_message($channel->{id}, $took, pack 'N', $sent);
}

sub read_output {
  my ($channel, $kind) = @_;
  my $limit = $channel->{credit} < $chunk ? $channel->{credit} : $chunk;
  my $bytes = '';
  my $bytes_read = sysread $channel->{outs}{$kind}, $bytes, $limit;
  if ($bytes_read) {
    send_message($channel->{id}, $kind, $bytes);
    $channel->{credit} -= $bytes_read;
    ($channel->{remaining}, $channel->{last_read_at}) = ($channel->{remaining} - $bytes_read, get_seconds()) if defined $channel->{exit};
    return;
  }
  return if !defined $bytes_read && ($! == 11 || $! == 4);
  delete $channel->{outs}{$kind};
  if ($channel->{socket}) { send_message($channel->{id}, $event, 'x 0'); close_channel($channel) }
}

sub read_status {
  my ($channel) = @_;
  my $bytes_read = sysread $channel->{status}, my $bytes, 4096;
  return if !defined $bytes_read && $! == 4;
  if ($bytes_read) {
    $channel->{status_text} .= $bytes;
    while ($channel->{status_text} =~ s/^(.*)\n//) { send_message($channel->{id}, $event, $1); $channel->{has_status} = 1 }
    return;
  }
  delete $channel->{status};
  send_message($channel->{id}, $event, "p $channel->{pid}") unless $channel->{has_status};
}

# Whether all output was read. The kernel delivers the last output of a terminal shortly after the exit.
sub is_drained {
  my ($channel, $ready) = @_;
  return 0 if !defined $channel->{can_read} || $channel->{status};
  return 1 if $channel->{remaining} <= 0 || !%{$channel->{outs}};
  return 0 if !$channel->{can_read};
  for (values %{$channel->{outs}}) { return 0 if vec($ready, fileno $_, 1) }
  $channel->{mode} ne 'terminal' || get_seconds() - $channel->{last_read_at} >= $quiet;
}

my ($from, $to, $status);
sub fail { my ($stage, $number) = @_; $number = $! + 0 unless defined $number; syswrite $status, "e $stage $number\n"; POSIX::_exit(1) }
sub fill_buffer { my $count = sysread $from, $input, 262144, length $input; defined $count or fail('request'); $count }
sub read_field { my $value = take_field(\$input, \&fill_buffer); defined $value ? $value : POSIX::_exit(1) }
sub read_chunk {
  length $input or fill_buffer() or fail('request', 32);
  my $bytes = $input;
  $input = '';
  $bytes;
}
sub send_event { syswrite $status, "@_\n" }
sub send_output { send_all($to, $_[0]) or POSIX::_exit(1) }

sub serve {
  $input = '';
  (my ($mode, $number), $from, $to, my $error_end, $status) = @_;
  if ($mode eq 'exec' || $mode eq 'terminal') {
    my @fields = map { read_field() } 1 .. read_field();
    if ($mode eq 'terminal') {
      sysopen(my $tty, "/dev/pts/$number", 2) or fail('terminal');
      open(STDIN, '+<&', $tty) && open(STDOUT, '+>&', $tty) && open(STDERR, '+>&', $tty) or fail('terminal');
    }
    else { open(STDIN, '<&', $null) && open(STDOUT, '>&', $to) && open(STDERR, '>&', $error_end) or fail('pipe') }
    exec_command(@fields);
  }
  if ($mode eq 'processes') { send_processes() }
  elsif ($mode eq 'ports') { send_all($to, join "\0", map { read_sockets($_) } '/proc/net/tcp', '/proc/net/tcp6') }
  elsif ($mode eq 'foreground') { send_foreground(read_field()) }
  elsif ($mode eq 'signal') { my ($pid, $name) = (read_field(), read_field()); $pid > 1 && kill $name, $pid or fail('signal', 3) }
  elsif ($mode eq 'read') { read_content() }
  elsif ($mode eq 'write') { write_content() }
  else { run_file_operation() }
  POSIX::_exit(0);
}

sub read_stat_fields { my ($rest) = read_file("/proc/$_[0]/stat") =~ /^\d+ \(.*\) (.*)$/s or return; split ' ', $rest }

# Sends the name of the foreground program of a session's terminal; nothing if it is the session leader. Reads `comm`,
# which is in kernel memory: a program can block readers of its arguments forever.
sub send_foreground {
  my ($leader) = @_;
  $leader =~ /^[1-9]\d*\z/ or return;
  my $group = (read_stat_fields($leader))[5];
  return unless defined $group && $group > 0 && $group != $leader;
  my $name = read_file("/proc/$group/comm");
  my $session = (read_stat_fields($group))[3];
  send_all($to, $name) if defined $session && $session == $leader;
}

# Sends a row per process: PID, parent, user, CPU ticks, resident pages, start time in ticks since boot, command.
sub send_processes {
  my ($boot) = read_file('/proc/stat') =~ /^btime (\d+)/m;
  send_all($to, join("\0", $ticks, POSIX::sysconf(POSIX::_SC_PAGESIZE()), $boot, '') . "\n");
  opendir(my $all, '/proc') or fail('open');
  for my $pid (grep { /^\d+$/ && $_ != $$ } readdir $all) {
    my ($name, $rest) = read_file("/proc/$pid/stat") =~ /^\d+ \((.*)\) (.*)$/s or next;
    my ($user) = (stat "/proc/$pid")[4];
    defined $user or next;
    my @fields = split ' ', $rest;
    my $command = join ' ', split /[\0-\x1f\x7f]+/, substr read_file("/proc/$pid/cmdline"), 0, 8192;
    $command = "[$name]" unless length $command;
    $command =~ s/[\0-\x1f]/ /g;
    send_all($to, join("\0", $pid, $fields[1], (getpwuid $user) || $user, $fields[11] + $fields[12], $fields[21], $fields[19], $command) . "\n");
  }
}

my $properties = '';
my $cgroup = '/sys/fs/cgroup';
$properties .= "memory=" . read_first_file("$cgroup/memory.max", "$cgroup/memory/memory.limit_in_bytes") . "\n";
$properties .= "cpu=" . read_first_file("$cgroup/cpu.max", "$cgroup/cpu/cpu.cfs_quota_us", "$cgroup/cpu,cpuacct/cpu.cfs_quota_us") . "\n";
$properties .= "processes=" . read_first_file("$cgroup/pids.max", "$cgroup/pids/pids.max") . "\n";
$properties .= "bash=" . ((-x '/usr/bin/bash' || -x '/bin/bash') ? 'yes' : 'no') . "\n";
send_message(0, $hello, $properties);

while (1) {
  reap_children();
  my ($reading, $writing, $wait) = ('', '', 10);
  vec($reading, 0, 1) = 1;
  vec($writing, 1, 1) = 1 if $outgoing ne '';
  my $has_capacity = length $outgoing <= $max;
  for my $channel (values %channels) {
    vec($reading, fileno $channel->{status}, 1) = 1 if $channel->{status};
    if ($channel->{connecting}) { vec($writing, fileno $channel->{socket}, 1) = 1; next }
    if ($has_capacity && $channel->{credit} > 0) { vec($reading, fileno $_, 1) = 1 for values %{$channel->{outs}} }
    my $into = $channel->{request} // $channel->{socket};
    vec($writing, fileno $into, 1) = 1 if $into && $channel->{queue} ne '';
    vec($writing, fileno $channel->{master}, 1) = 1 if $channel->{master} && $channel->{terminal_input} ne '';
    if (defined $channel->{exit}) {
      $channel->{can_read} = $has_capacity && $channel->{credit} > 0;
      $wait = $channel->{mode} eq 'terminal' ? 0.01 : 0 if $channel->{remaining} <= 0 || !%{$channel->{outs}} || ($has_capacity && $channel->{credit} > 0);
    }
    elsif ($channel->{ending}) { vec($reading, fileno $channel->{ending}, 1) = 1 }
    elsif ($channel->{pid}) { $wait = 0.02 if $wait > 0.02 }
  }
  my $count = select($reading, $writing, undef, $wait);
  if ($count < 0) { ($reading, $writing) = ('', ''); reap_children(); next }
  reap_children() if $count > 0;
  if (vec($reading, 0, 1)) {
    my $bytes_read = sysread STDIN, $input, 262144, length $input;
    exit 0 if defined $bytes_read && !$bytes_read;
    while (length $input >= 9) {
      my ($id, $kind, $length) = unpack 'N C N', $input;
      last if length $input < 9 + $length;
      my $content = substr $input, 9, $length;
      substr $input, 0, 9 + $length, '';
      handle_message($id, $kind, $content);
    }
  }
  for my $channel (values %channels) {
    read_status($channel) if $channel->{status} && vec($reading, fileno $channel->{status}, 1);
    if ($channel->{connecting}) {
      complete_connection($channel) if vec($writing, fileno $channel->{socket}, 1);
      next;
    }
    for my $kind (keys %{$channel->{outs}}) {
      my $from = $channel->{outs}{$kind} or next;
      read_output($channel, $kind) if $channel->{credit} > 0 && vec($reading, fileno $from, 1);
    }
    next if $channel->{closed};
    my $into = $channel->{request} // $channel->{socket};
    flush_queue($channel, $into, 'queue') if $into && $channel->{queue} ne '';
    if ($channel->{finish} && $channel->{queue} eq '' && $into) {
      if ($channel->{socket}) { shutdown $channel->{socket}, 1 } else { delete $channel->{request} }
      $channel->{finish} = 0;
    }
    flush_queue($channel, $channel->{master}, 'terminal_input') if $channel->{master} && $channel->{terminal_input} ne '';
    if (is_drained($channel, $reading)) {
      send_message($channel->{id}, $event, "x $channel->{exit}");
      close_channel($channel);
    }
  }
  if ($outgoing ne '') {
    my $sent = syswrite STDOUT, $outgoing, 262144;
    if ($sent) { substr $outgoing, 0, $sent, '' }
    elsif (!defined $sent && $! != 11 && $! != 4) { exit 0 }
  }
}
