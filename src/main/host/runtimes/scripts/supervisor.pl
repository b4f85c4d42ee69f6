# Supervises one sandbox while it runs: starts it, holds the files pinned at its start, and lets the host in. Runs
# outside the sandbox and its limits. Requires `enter` and `network`.
#
# `supervise($control, \%options)`: the options of `launch`, and `folder` (of the host, for the sockets), `owner` (PID
# that may connect), `keep` (bit mask of kept capabilities), `processes` (maximum), `inner_filter`, `terminals`
# (maximum), `processors` (host CPUs to use), `view` (see below), `without` (isolation features that a test turns off).
#
# Events on `$control`, a line of JSON each: `started` with PIDs and open files, or `failed` with a sentence; later
# `ended` with the wait(2) status of bwrap, and `answer` with the `id` of each request. Requests are lines of JSON
# with an `id` and the operation `do`. The sandbox ends when the control connection ends.
#
# No code of the sandbox, its files, image or libraries runs before `started`: its first process is our static
# program, and all others come through the fork server, which is started last.
my ($control, $bwrap, $fork_server, $fork_server_ending, $fork_server_door, $side_door, %helpers, %network);
my (%handlers, $request_buffer);

sub supervise {
  ($control, my $options) = @_;
  $0 = 'steward supervisor';
  $SIG{PIPE} = sub {}; # unlike IGNORE, not inherited by commands
  $sandbox = $options;
  $sandbox->{without} = { map { $_ => 1 } @{$options->{without}} };
  $sandbox->{shares} = compute_user_shares();
  $request_buffer = '';
  # Fails if the user has reached the kernel's key quota; then the spawner's keyring stays, which is also
  # new and empty.
  call('keyctl', 1, 0) unless $sandbox->{without}{keyring};
  my $started = eval { start_sandbox() };
  if (!$started) {
    my $reason = $@;
    kill_start();
    waitpid $bwrap, 0 if $bwrap;
    tell_host({ failed => $reason });
    exit;
  }
  tell_host({ started => $started });
  run_main_loop();
}

# Whether the kernel also counts the usage of the sandbox for an ordinary user.
sub is_counted_for_user { defined $sandbox->{users} || !defined $sandbox->{uid} }

# Returns limits, by resource, that leave enough for other sandboxes and for programs of the user.
sub compute_user_shares {
  return {} unless is_counted_for_user();
  my ($files, $signals, $queues) = map { (get_resource_limits($_))[1] } RLIMIT_NOFILE, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE;
  my %shares = (RLIMIT_SIGPENDING() => $signals < 4096 ? int $signals / 4 : 2048, RLIMIT_MSGQUEUE() => int $queues / 4);
  # Files in transit over sockets can be as many as one process can open, and are counted by id only.
  $shares{RLIMIT_NOFILE()} = $files > 2048 ? $files - 1024 : int $files / 2 unless defined $sandbox->{uid};
  \%shares;
}

sub tell_host { send_all($control, to_json($_[0]) . "\n") }

# Starts a process that ends with the supervisor. Returns its PID and its output stream.
sub start_helper {
  my ($work) = @_;
  pipe(my $reader, my $writer) or die "no pipe: $!\n";
  my $pid = fork;
  defined $pid or die "no process: $!\n";
  return ($pid, $reader) if $pid;
  close $_ for $control, $reader;
  # Only the supervisor needs these.
  delete @pins{'terminals', 'disk'};
  delete $view->{files} if $view;
  delete $network{lifeline};
  call('prctl', 1, 9, 0, 0, 0);
  $work->($writer);
  exit;
}

# Waits for a helper. Dies with its error output.
sub wait_for {
  my ($pid, $reader) = @_;
  my $text = '';
  1 while sysread $reader, $text, 65536, length $text;
  waitpid $pid, 0;
  $? == 0 && $text eq '' or die $text || "the helper exited with status $?\n";
}

sub start_sandbox {
  my $init = start_bwrap();
  $sandbox->{init} = $init;
  for my $kind (keys %namespaces) {
    open($pins{$kind}, '<', "/proc/$init/ns/$kind") or die "the $kind namespace no longer exists: $!\n";
  }
  my %open = open_pinned_files($init);
  # Makes the OOM killer choose other processes first. Requires root.
  protect_from_oom($init);
  set_affinity($init);
  wait_for(start_helper(sub {
    my ($writer) = @_;
    eval { close_sandbox(); 1 } or send_all($writer, $@);
  }));
  listen_for_host();
  start_fork_server();
  my $namespace = readlink("/proc/$init/ns/pid");
  { supervisor => $$, monitor => $bwrap, init => $init, namespace => $namespace, files => \%open };
}

sub protect_from_oom {
  my ($pid) = @_;
  open(my $file, '>', "/proc/$pid/oom_score_adj") or return;
  syswrite $file, '-1000';
}

# Kills the process group of bwrap, because its child waits for it before `--die-with-parent` takes effect.
# PID 0 would address the own process group.
sub kill_start { kill 9, $bwrap, -$bwrap if $bwrap }

# Starts bwrap. Returns the host PID of the first process once everything is mounted.
sub start_bwrap {
  pipe(my $info, my $info_writer) && pipe(my $reader, my $writer) && pipe(my $error_reader, my $error_writer) or die "no pipe: $!\n";
  $bwrap = fork;
  defined $bwrap or die "no process: $!\n";
  if (!$bwrap) {
    setpgrp 0, 0;
    close $_ for $control, $info, $reader, $error_reader;
    open(STDOUT, '>&', $writer) && open(STDERR, '>&', $error_writer) or exit 1;
    eval { my @inherited_files = hand_over_file($info_writer, $sandbox->{info}); launch($sandbox) };
    print STDERR $@;
    kill 9, $$;
  }
  setpgrp $bwrap, $bwrap;
  close $_ for $info_writer, $writer, $error_writer;
  my %text = map { $_ => '' } 'info', 'output', 'errors';
  my %streams = (info => $info, output => $reader, errors => $error_reader);
  while (1) {
    my ($init) = $text{info} =~ /"child-pid":\s*(\d+)\s*[,}\n]/;
    return $init + 0 if defined $init && $text{output} eq "ready\n";
    my $ready = select_readable(grep { defined } $control, values %streams) or next;
    take_requests() if vec($ready, fileno $control, 1);
    for my $name (keys %streams) {
      $streams{$name} && vec($ready, fileno $streams{$name}, 1) or next;
      next if sysread $streams{$name}, $text{$name}, 4096, length $text{$name};
      die $text{errors} || "bwrap exited\n" if $name eq 'errors';
      delete $streams{$name};
    }
  }
}

sub select_readable {
  my $watched = '';
  vec($watched, fileno $_, 1) = 1 for @_;
  my $count = select(my $ready = $watched, undef, undef, $view ? 1 : undef);
  $count < 0 ? '' : $ready;
}

# Opens files that the host needs, before any code of the sandbox can replace them.
sub open_pinned_files {
  my ($init) = @_;
  my %open;
  sysopen($pins{terminals}, "/proc/$init/root/dev/pts/ptmx", 010000000) or die "cannot open the terminals: $!\n";
  (stat $pins{terminals})[6] == 5 * 256 + 2 or die "/dev/pts/ptmx is not a terminal device\n";
  $open{terminals} = fileno $pins{terminals};
  if ($sandbox->{storage}{kind} eq 'image') {
    sysopen($pins{disk}, "/proc/$bwrap/root$sandbox->{doorway}", 0200000) or die "the disk is not mounted: $!\n";
    $open{disk} = fileno $pins{disk};
  }
  if ($view = $sandbox->{view}) {
    for my $name ('cpuinfo', 'meminfo', 'stat') {
      open($view->{files}{$name}, '+<', "/proc/$init/root/proc/$name") or die "its /proc/$name is gone: $!\n";
    }
    update_view();
  }
  %open;
}

# Limits and hides what the sandbox must not use, in the last process that has the rights to do so.
sub close_sandbox {
  become_root_inside();
  limit_resources($sandbox->{init});
  limit_inotify(0.25) if is_counted_for_user();
  if (!$sandbox->{without}{'user-namespaces'}) {
    open(my $limit, '>', '/proc/sys/user/max_user_namespaces') or die "cannot disable user namespaces: $!\n";
    syswrite $limit, '0' or die "cannot disable user namespaces: $!\n";
  }
  join_namespaces('net');
  allow_ping();
  join_namespaces('mnt');
  hide_kernel();
  my $options = "newinstance,ptmxmode=0666,mode=620,uid=0,gid=0,max=$sandbox->{terminals}";
  call('mount', 'devpts', '/dev/pts', 'devpts', 0x2a, $options) == 0 or die "cannot limit terminals: $!\n";
}

# Empties all files and folders of /proc except those of processes and those that programs such as ps, free and lsblk
# read: they reveal the kernel and other users of the computer (interrupts, timers, symbols), or change it. bwrap has
# made the remaining settings read-only.
sub hide_kernel {
  my %visible = map { $_ => 1 } qw(cgroups cmdline cpuinfo devices diskstats filesystems key-users keys loadavg locks meminfo
    misc mounts net partitions pressure self stat swaps sys sysrq-trigger sysvipc thread-self tty uptime version vmstat);
  opendir(my $folder, '/proc') or die "cannot open /proc: $!\n";
  my ($null, $tmpfs, $empty) = ('/dev/null', 'tmpfs');
  for my $name (sort readdir $folder) {
    next if $name =~ /\A(?:\.|[0-9]+\z)/ || $visible{$name} || -l "/proc/$name";
    my $path = "/proc/$name";
    if (!-d _) { call('mount', $null, $path, 0, 0x1000, 0) == 0 or die "cannot hide $path: $!\n" }
    elsif (defined $empty) { call('mount', $empty, $path, 0, 0x1000, 0) == 0 or die "cannot hide $path: $!\n" }
    else {
      call('mount', $tmpfs, $path, $tmpfs, 0xf, 'size=4k,mode=0555') == 0 or die "cannot hide $path: $!\n";
      $empty = $path;
    }
  }
}

# Allows ICMP echo sockets for every group of the sandbox: `ping` works without the right to raw sockets.
sub allow_ping {
  my $last = 0;
  for (split /\n/, read_file('/proc/self/gid_map')) {
    my ($first, undef, $count) = split;
    $last = $first + $count - 1 if $first + $count - 1 > $last;
  }
  for my $groups ("0 $last", '0 0') {
    open(my $range, '>', '/proc/sys/net/ipv4/ping_group_range') or die "cannot allow ping: $!\n";
    return if syswrite $range, $groups;
  }
}

# Applies the settings of a new sandbox to a warm one. None of its code has run yet, so its files are unchanged.
sub reconfigure_sandbox {
  my ($request) = @_;
  my $name = $request->{hostname};
  become_root_inside();
  join_namespaces('uts', 'mnt');
  call('sethostname', $name, length $name) == 0 or die "cannot set the host name: $!\n";
  call('mount', 'tmpfs', '/dev/shm', 'tmpfs', 0x26, "size=$request->{shared}") == 0 or die "cannot resize /dev/shm: $!\n";
  put_entry(@$_) for @{$request->{entries}};
}

sub set_affinity {
  my @processors = @{$sandbox->{processors} || []} or return;
  my $mask = "\0" x 128;
  vec($mask, $_, 1) = 1 for @processors;
  for my $pid (@_) { call('sched_setaffinity', $pid, length $mask, $mask) == 0 or die "cannot set the CPU affinity: $!\n" }
}

sub listen_for_host {
  chdir $sandbox->{folder} or die "the folder of the sandbox no longer exists: $!\n";
  my $mask = umask 0177;
  ($fork_server_door, $side_door) = map { open_listener($_) } 'keeper', 'door';
  umask $mask;
  chdir '/';
}

# Starts the fork server, which makes entering fast. It counts toward the process and memory limits of the sandbox, so
# the kernel may kill it when they are exhausted; the next request then starts another.
sub start_fork_server {
  ($fork_server, my $reader) = start_helper(sub {
    my ($writer) = @_;
    eval { serve_fork_requests($writer); 1 } or send_all($writer, $@);
  });
  my $reply = '';
  sysread $reader, $reply, 4096;
  if ($reply ne "ready\n") {
    end_all($fork_server);
    undef $fork_server;
    die $reply || "the fork server exited\n";
  }
  $fork_server_ending = open_process($fork_server);
}

sub open_process {
  my ($pid) = @_;
  my $number = call('pidfd_open', $pid, 0);
  $number >= 0 && open(my $file, '<&=', $number) or die "no process $pid: $!\n";
  $file;
}

sub serve_fork_requests {
  my ($writer) = @_;
  $0 = 'steward fork-server';
  close $side_door;
  set_affinity(0);
  enter_sandbox();
  call('prctl', 1, 9, 0, 0, 0);
  open(STDERR, '>', '/dev/null');
  send_all($writer, "ready\n");
  close $writer;
  $SIG{CHLD} = 'IGNORE';
  while (1) {
    my $caller = accept_owner($fork_server_door, $sandbox->{owner}) or next;
    my $child = fork;
    $peer = $caller;
    if (!defined $child) { send_event('e', 'room', $! + 0); finish() }
    elsif (!$child) {
      close $fork_server_door;
      $SIG{CHLD} = 'DEFAULT';
      serve();
    }
    close $peer;
  }
}

# Serves a request with a helper from outside, for a sandbox that cannot start another process.
sub serve_side_door {
  my $caller = accept_owner($side_door, $sandbox->{owner}) or return;
  my ($pid) = eval {
    start_helper(sub {
      $peer = $caller;
      eval { set_affinity(0); enter_sandbox(); 1 } or fail('namespaces');
      serve();
    });
  };
  $helpers{$pid} = open_process($pid) if $pid;
}

sub run_main_loop {
  my $ending = open_process($bwrap);
  while (1) {
    my @files = ($control, $ending, $side_door, values %helpers, $fork_server ? $fork_server_ending : $fork_server_door);
    my $ready = select_readable(@files);
    if (vec($ready, fileno $ending, 1)) {
      waitpid $bwrap, 0;
      my $status = $?;
      end_all($fork_server, keys %helpers);
      tell_host({ ended => $status });
      exit;
    }
    take_requests() if vec($ready, fileno $control, 1);
    if ($fork_server && vec($ready, fileno $fork_server_ending, 1)) { waitpid $fork_server, 0; undef $fork_server }
    elsif (!$fork_server && vec($ready, fileno $fork_server_door, 1)) { eval { start_fork_server(); 1 } or reject_connection() }
    serve_side_door() if vec($ready, fileno $side_door, 1);
    for my $pid (keys %helpers) {
      vec($ready, fileno $helpers{$pid}, 1) or next;
      waitpid $pid, 0;
      delete $helpers{$pid};
      handle_network_exit() if ($network{pid} || 0) == $pid;
    }
    update_view() if $view && time != $view->{updated_at};
  }
}

# Rejects a connection if the fork server cannot be started; the host then uses the side door.
sub reject_connection {
  my $caller = accept_owner($fork_server_door, $sandbox->{owner}) or return;
  $peer = $caller;
  send_event('e', 'room', 11);
  close $peer;
}

# Ends all children. The helper of pasta is not killed: it ends with its lifeline, after it has ended pasta. If pasta
# has an AppArmor profile, the kernel would not end it with the helper.
sub end_all {
  my @children = grep { defined } @_;
  my $network_pid = $network{pid} || 0;
  kill 9, grep { $_ != $network_pid } @children;
  delete $network{lifeline};
  waitpid $_, 0 for @children;
}

sub take_requests {
  my $bytes_read = sysread $control, $request_buffer, 65536, length $request_buffer;
  if (!$bytes_read) {
    $sandbox->{init} ? kill 9, $sandbox->{init} : kill_start();
    end_all($bwrap, $fork_server, keys %helpers);
    exit;
  }
  while ($request_buffer =~ s/\A([^\n]*)\n//) {
    my $request = from_json($1);
    my $work = $handlers{$request->{do}};
    my $response = { answer => $request->{id} };
    eval { $work ? $work->($request) : die "Unknown request $request->{do}.\n"; 1 } or $response->{failed} = $@;
    tell_host($response);
  }
}

%handlers = (
  end => sub { $sandbox->{init} ? kill 9, $sandbox->{init} : kill_start() },
  become => sub {
    my ($request) = @_;
    $sandbox->{processors} = $request->{processors};
    set_affinity($sandbox->{init}, $fork_server ? $fork_server : ());
    wait_for(start_helper(sub {
      my ($writer) = @_;
      eval { reconfigure_sandbox($request); 1 } or send_all($writer, $@);
    }));
    $view->{$_} = $request->{view}{$_} for keys %{$request->{view}};
    update_view();
  },
  network => sub {
    my ($request) = @_;
    my %request = (%{$request->{network}}, net => "/proc/$$/fd/" . fileno $pins{net});
    pipe(my $lifeline_reader, $network{lifeline}) or die "no pipe: $!\n";
    my ($pid, $reader) = start_helper(sub {
      my ($writer) = @_;
      open(STDIN, '<&', $lifeline_reader) && open(STDOUT, '>&', $writer) or exit 1;
      close $_ for $lifeline_reader, $writer;
      connect_network(\%request);
    });
    close $lifeline_reader;
    $helpers{$pid} = open_process($pid);
    $network{pid} = $pid;
    my $reply = '';
    1 while $reply !~ /\n/ && sysread $reader, $reply, 65536, length $reply;
    return if $reply eq "connected\n";
    %network = ();
    my $report = eval { from_json($reply) };
    die(($report && $report->{reason} || 'the network helper exited') . "\n");
  },
);

sub handle_network_exit {
  %network = ();
  tell_host({ network => 'lost' });
}
