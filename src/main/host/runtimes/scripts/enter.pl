# Enters a running sandbox and serves one request there. Requires `files`, `start` and `exec`.
#
# The host works in a sandbox through namespaces that it opened before any code of the sandbox ran (`%pins`, by kind).
# A process that enters drops every capability that a sandbox does not need before it touches anything that the
# sandbox can change. `nsenter` with `setpriv` would load libraries of the sandbox while still having all
# capabilities.
#
# A request has NUL-terminated fields, the mode first. The response has messages: kind (1 byte), length (4 bytes,
# big-endian) and content, which is output of the command or a status line (see `exec`). Any further byte, or the end
# of the connection, kills the process group of a command. The program side of a terminal stays open until the program
# exits, so that a program that closes it earlier gets no SIGHUP. For `connect`, chunks follow, each with its length (4
# bytes) before it; an empty chunk is the last. The response after `p` is the raw output of the port.
my %namespaces = (mnt => 0x20000, cgroup => 0x2000000, uts => 0x4000000, ipc => 0x8000000, user => 0x10000000, pid => 0x20000000, net => 0x40000000);
my ($sandbox, %pins, %kinds, $peer, $inside);
my $input = '';

sub send_message { send_all($peer, pack('CN', $_[0], length $_[1]) . $_[1]) }
sub send_event { send_message($kinds{status}, "@_\n") }
sub send_output { send_message($kinds{output}, $_[0]) or exit }
# Drains the socket: closing it with unread input could discard output that the peer has not read yet.
sub finish { shutdown $peer, 1; 1 while sysread $peer, my $rest, 65536 }
sub leave { finish(); exit }
sub fail { send_event('e', $_[0], defined $_[1] ? $_[1] : $! + 0); $inside ? exit 1 : leave() }
sub fill_buffer { my $count = sysread $peer, $input, 262144, length $input; defined $count or fail('request'); $count }
sub read_field { take_field(\$input, \&fill_buffer) }
sub read_chunk {
  length $input or fill_buffer() or fail('request', 32);
  my $bytes = $input;
  $input = '';
  $bytes;
}

# Returns a namespace of the sandbox. Without the feature `pinned-namespaces`, the current one of PID 1.
sub open_namespace {
  my ($kind) = @_;
  $sandbox->{without}{'pinned-namespaces'} or return $pins{$kind};
  open(my $namespace, '<', "/proc/$sandbox->{init}/ns/$kind") or return undef;
  $namespace;
}
sub join_namespaces {
  for my $kind (@_) {
    my $namespace = open_namespace($kind);
    $namespace && call('setns', fileno $namespace, $namespaces{$kind}) == 0 or die "cannot join the $kind namespace: $!\n";
  }
}

# Enters the user namespace of the sandbox as its root.
sub become_root_inside {
  become_user($sandbox->{uid}) if defined $sandbox->{uid};
  join_namespaces('user');
}

# Enters the sandbox: its cgroups, its user namespace, and at most the rights of its root.
sub enter_sandbox {
  join_cgroups(@{$sandbox->{cgroups}});
  $SIG{FPE} = 'DEFAULT';
  umask 022;
  become_root_inside();
  for my $capability (0 .. 63) {
    call('prctl', 24, $capability, 0, 0, 0) unless ($sandbox->{keep} >> $capability) & 1;
  }
  # Blocks ptrace and /proc access by other processes.
  call('prctl', 4, 0, 0, 0, 0) == 0 && call('prctl', 38, 1, 0, 0, 0) == 0 or die "cannot confine the process: $!\n";
  limit_calls($sandbox->{outer_filter}) if defined $sandbox->{outer_filter};
}

# Drops the remaining rights: those that only entering requires, and those that processes of the sandbox do not have.
sub confine {
  my ($low, $high) = ($sandbox->{keep} & 0xffffffff, $sandbox->{keep} >> 32);
  my ($head, $data) = (pack('LL', 0x20080522, 0), pack('L6', $low, $low, 0, $high, $high, 0));
  call('capset', $head, $data) == 0 or fail('confine');
  eval { limit_resources(0); 1 } or fail('confine');
  if (defined $sandbox->{inner_filter}) { eval { limit_calls($sandbox->{inner_filter}); 1 } or fail('confine') }
}

# Limits a process; 0 is this process.
sub limit_resources {
  my ($pid) = @_;
  limit_resource($pid, RLIMIT_NPROC, $sandbox->{processes}) unless $sandbox->{without}{'process-limit'};
  limit_resource($pid, $_ + 0, $sandbox->{shares}{$_}) for sort keys %{$sandbox->{shares}};
}

sub start_command {
  my ($prepare) = @_;
  my @fields = map { read_field() } 1 .. read_field();
  pipe(my $running, my $starting) or fail('pipe');
  my $child = fork;
  defined $child or fail('fork');
  if (!$child) {
    $inside = 1;
    call('setsid');
    call('prctl', 1, 9, 0, 0, 0);
    confine();
    $prepare->();
    exec_command(@fields);
  }
  close $starting;
  sysread $running, my $discarded, 1;
  send_event('p', $child);
  $child;
}

sub run_command {
  pipe(my $out, my $out_end) && pipe(my $err, my $err_end) or fail('pipe');
  my $child = start_command(sub { open(STDOUT, '>&', $out_end) && open(STDERR, '>&', $err_end) or fail('pipe') });
  close $_ for $out_end, $err_end;
  kill 'KILL', -$child if length $input;
  my $pidfd = call('pidfd_open', $child, 0);
  my %open = (fileno($out), [$out, $kinds{output}], fileno($err), [$err, $kinds{errors}]);
  my ($has_exited, $remaining) = (0, 4 << 20);
  while (%open || !$has_exited) {
    my $watched = '';
    vec($watched, $_, 1) = 1 for keys %open, $has_exited ? () : ($pidfd, fileno $peer);
    my $count = select(my $ready = $watched, undef, undef, $has_exited ? 0 : undef);
    last if $has_exited && ($count < 1 || $remaining <= 0);
    next if $count < 1;
    if (!$has_exited && vec($ready, fileno $peer, 1)) {
      kill 'KILL', -$child;
      sysread $peer, my $discarded, 64 or exit;
    }
    for my $number (keys %open) {
      next unless vec($ready, $number, 1);
      my $bytes_read = sysread $open{$number}[0], my $bytes, 65536;
      if (!$bytes_read) { delete $open{$number}; next }
      $remaining -= $bytes_read if $has_exited;
      send_message($open{$number}[1], $bytes) and next;
      kill 'KILL', -$child unless $has_exited;
      exit;
    }
    if (!$has_exited && vec($ready, $pidfd, 1)) { waitpid $child, 0; $has_exited = 1; send_event('x', $?) }
  }
}

sub run_terminal {
  my $name = '/dev/pts/' . read_field();
  sysopen(my $terminal, $name, 2 | O_NOCTTY) or fail('terminal');
  my $child = start_command(sub {
    close $terminal;
    sysopen(my $tty, $name, 2) or fail('terminal');
    open(STDIN, '+<&', $tty) && open(STDOUT, '+>&', $tty) && open(STDERR, '+>&', $tty) or fail('terminal');
    close $tty;
  });
  my $pidfd = call('pidfd_open', $child, 0);
  my $is_watching = 1;
  while (1) {
    my $watched = '';
    vec($watched, $_, 1) = 1 for $pidfd, $is_watching ? fileno $peer : ();
    select(my $ready = $watched, undef, undef, undef) > 0 or next;
    last if vec($ready, $pidfd, 1);
    next if sysread $peer, my $discarded, 64;
    close $terminal; # the peer closed the connection
    $is_watching = 0;
  }
  waitpid $child, 0;
  my $status = $?;
  close $terminal if $is_watching;
  send_event('x', $status);
}

sub connect_port {
  confine();
  my $port = read_field();
  my ($socket, $failure);
  for ([2, pack 'S n C4 x8', 2, $port, 127, 0, 0, 1], [10, pack 'S n N x15 C N', 10, $port, 0, 1, 0]) {
    my ($family, $address) = @$_;
    last if socket($socket, $family, 1, 0) && connect $socket, $address;
    ($failure, $socket) = ($failure || $! + 0, undef);
  }
  defined $socket or fail('connect', $failure);
  setsockopt $socket, 6, 1, 1;
  send_event('p', $$);
  fcntl($_, 4, O_NONBLOCK) for $socket, $peer;
  my ($down, $sending, $chunk) = ('', 1, 0);
  while (1) {
    if (!$sending) { $input = '' }
    elsif (!$chunk && length $input >= 4) {
      $chunk = unpack 'N', substr $input, 0, 4, '';
      if (!$chunk) { $sending = 0; shutdown $socket, 1 }
    }
    my $up = $sending && $chunk && $input ne '';
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
      my $bytes_read = sysread $socket, $down, 65536;
      defined $bytes_read ? $bytes_read || last : $! == 11 || last;
    }
    if (vec($writable, fileno $socket, 1)) {
      my $sent = syswrite $socket, $input, $chunk < length $input ? $chunk : length $input;
      if (defined $sent) { $chunk -= $sent; substr $input, 0, $sent, '' }
      elsif ($! != 11) { $sending = 0 }
    }
    if (vec($readable, fileno $peer, 1)) {
      my $bytes_read = sysread $peer, $input, 65536, length $input;
      defined $bytes_read ? $bytes_read || exit : $! == 11 || exit;
    }
  }
  fcntl($peer, 4, 0);
}

# Sends the socket tables of the sandbox's network namespace.
sub send_ports { send_output(read_sockets("/proc/self/net/$_")) for 'tcp', 'tcp6' }

# These modes join only the network namespace, so the files of the host stay visible.
my %network_modes = (connect => \&connect_port, ports => \&send_ports);
my %command_modes = (exec => \&run_command, terminal => \&run_terminal);
my %file_modes = (read => \&read_content, write => \&write_content, file => \&run_file_operation);

sub serve {
  send_event('h');
  my $mode = read_field();
  defined $mode or exit;
  $0 = "steward $mode";
  my @joined_kinds = $network_modes{$mode} ? 'net' : ('pid', 'net', 'ipc', 'uts', 'cgroup', 'mnt');
  eval { join_namespaces(@joined_kinds); 1 } or fail('namespaces');
  %pins = ();
  if (my $work = $network_modes{$mode} || $command_modes{$mode}) { $work->(); send_event('x', 0) if $mode eq 'ports' }
  elsif ($file_modes{$mode}) { confine(); $file_modes{$mode}->(); send_event('x', 0) }
  else { fail('request', 22) }
  leave();
}
