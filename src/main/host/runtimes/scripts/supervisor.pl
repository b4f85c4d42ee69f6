# Stands beside one sandbox for as long as it runs: starts it, holds what was pinned at its start, and lets the host in.
# It is outside of the sandbox and of its limits. Needs `enter` and `network`.
#
# `ward($control, \%given)`: given is what `launch` takes, and `folder` (of the host, where the sockets are), `owner`
# (the process that may come in), `keep` (capabilities that stay, a bit mask), `processes` (most of them), `inner_filter`,
# `terminals` (most of them), `processors` (which of the host's it uses), `view` (see below), `without` (layers that a
# test has taken away).
#
# Over `$control` it tells, a line of JSON each: `started` with the numbers of processes and of its open files, or
# `failed` with a sentence; later `ended` with what wait(2) says of bwrap, and `answer` with `id` for each request.
# Requests are lines of JSON with an `id` and what to `do`. When the control ends, the sandbox ends.
#
# Nothing of the sandbox, its files, its image or its libraries has run before `started` is told: its first process is a
# static program of ours, and all others come through the fork server, which is made last.
my ($control, $bwrap, $fork_server, $fork_server_ending, $fork_server_door, $side_door, %helpers, %network);
my (%asked_for, $asked);

sub ward {
  ($control, my $given) = @_;
  $0 = 'steward supervisor';
  $SIG{PIPE} = sub {}; # unlike IGNORE this is not passed on to a command
  $sandbox = $given;
  $sandbox->{without} = { map { $_ => 1 } @{$given->{without}} };
  $sandbox->{shares} = shares_of_user();
  $asked = '';
  # A user who has reached the kernel's quota of keys keeps the spawner's, which is new and empty as well.
  call('keyctl', 1, 0) unless $sandbox->{without}{keyring};
  my $started = eval { start_sandbox() };
  if (!$started) {
    my $reason = $@;
    kill_start() if $bwrap;
    waitpid $bwrap, 0 if $bwrap;
    tell_host({ failed => $reason });
    exit;
  }
  tell_host({ started => $started });
  stay();
}

# Whether the kernel counts what the sandbox uses for an ordinary user as well, who needs some of it.
sub counts_for_user { defined $sandbox->{users} || !defined $sandbox->{uid} }

# One sandbox leaves enough to others, and to the user's own programs. Shares by the number of the resource.
sub shares_of_user {
  return {} unless counts_for_user();
  my ($files, $signals, $queues) = map { (resource_limits($_))[1] } RLIMIT_NOFILE, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE;
  my %shares = (RLIMIT_SIGPENDING() => $signals < 4096 ? int $signals / 4 : 2048, RLIMIT_MSGQUEUE() => int $queues / 4);
  # What is on its way in sockets may be as many files as one process may open; it is counted by id alone.
  $shares{RLIMIT_NOFILE()} = $files > 2048 ? $files - 1024 : int $files / 2 unless defined $sandbox->{uid};
  \%shares;
}

sub tell_host { send_all($control, to_json($_[0]) . "\n") }

# A process of its own for this work, which ends with the supervisor. What it prints is returned as a stream.
sub helper {
  my ($work) = @_;
  pipe(my $said, my $says) or die "no pipe: $!\n";
  my $pid = fork;
  defined $pid or die "no process: $!\n";
  return ($pid, $said) if $pid;
  close $_ for $control, $said;
  # What only the supervisor needs.
  delete @pins{'terminals', 'disk'};
  delete $view->{files} if $view;
  delete $network{lifeline};
  call('prctl', 1, 9, 0, 0, 0);
  $work->($says);
  exit;
}

# Dies with what the helper has complained about.
sub wait_for {
  my ($pid, $said) = @_;
  my $text = '';
  1 while sysread $said, $text, 65536, length $text;
  waitpid $pid, 0;
  $? == 0 && $text eq '' or die $text || "it ended with status $?\n";
}

sub start_sandbox {
  my $init = start_bwrap();
  $sandbox->{init} = $init;
  for my $kind (keys %namespaces) {
    open($pins{$kind}, '<', "/proc/$init/ns/$kind") or die "its $kind namespace is gone: $!\n";
  }
  my %open = pinned_files($init);
  # The kernel ends others first when the memory is used up. Only root may ask for it.
  spare_from_memory_shortage($init);
  use_processors($init);
  wait_for(helper(sub {
    my ($says) = @_;
    eval { close_sandbox(); 1 } or send_all($says, $@);
  }));
  listen_for_host();
  start_fork_server();
  my $namespace = readlink("/proc/$init/ns/pid");
  { supervisor => $$, monitor => $bwrap, init => $init, namespace => $namespace, files => \%open };
}

sub spare_from_memory_shortage {
  my ($pid) = @_;
  open(my $file, '>', "/proc/$pid/oom_score_adj") or return;
  syswrite $file, '-1000';
}

# Kills the process group of bwrap: its child waits for it before `--die-with-parent` takes effect.
sub kill_start { kill 9, $bwrap, -$bwrap }

# Returns its first process as the host counts, once everything is mounted.
sub start_bwrap {
  pipe(my $info, my $tells) && pipe(my $said, my $says) && pipe(my $complaint, my $complains) or die "no pipe: $!\n";
  $bwrap = fork;
  defined $bwrap or die "no process: $!\n";
  if (!$bwrap) {
    setpgrp 0, 0;
    close $_ for $control, $info, $said, $complaint;
    open(STDOUT, '>&', $says) && open(STDERR, '>&', $complains) or exit 1;
    eval { my @kept = hand_over_file($tells, $sandbox->{info}); launch($sandbox) };
    print STDERR $@;
    kill 9, $$;
  }
  setpgrp $bwrap, $bwrap;
  close $_ for $tells, $says, $complains;
  my %text = map { $_ => '' } 'info', 'said', 'complaint';
  my %streams = (info => $info, said => $said, complaint => $complaint);
  while (1) {
    my ($init) = $text{info} =~ /"child-pid":\s*(\d+)\s*[,}\n]/;
    return $init + 0 if defined $init && $text{said} eq "ready\n";
    my $ready = readable(grep { defined } $control, values %streams) or next;
    take_requests() if vec($ready, fileno $control, 1);
    for my $name (keys %streams) {
      $streams{$name} && vec($ready, fileno $streams{$name}, 1) or next;
      next if sysread $streams{$name}, $text{$name}, 4096, length $text{$name};
      die $text{complaint} || "bwrap ended\n" if $name eq 'complaint';
      delete $streams{$name};
    }
  }
}

sub readable {
  my $wanted = '';
  vec($wanted, fileno $_, 1) = 1 for @_;
  my $count = select(my $ready = $wanted, undef, undef, $view ? 1 : undef);
  $count < 0 ? '' : $ready;
}

# Files that the host needs of it, opened before anything of the sandbox can put another thing in their place.
sub pinned_files {
  my ($init) = @_;
  my %open;
  sysopen($pins{terminals}, "/proc/$init/root/dev/pts/ptmx", 010000000) or die "it has no terminals: $!\n";
  (stat $pins{terminals})[6] == 5 * 256 + 2 or die "its terminals are not a terminal device\n";
  $open{terminals} = fileno $pins{terminals};
  if ($sandbox->{storage}{kind} eq 'image') {
    sysopen($pins{disk}, "/proc/$bwrap/root$sandbox->{doorway}", 0200000) or die "its disk is gone: $!\n";
    $open{disk} = fileno $pins{disk};
  }
  if ($view = $sandbox->{view}) {
    for my $name ('cpuinfo', 'meminfo', 'stat') {
      open($view->{files}{$name}, '+<', "/proc/$init/root/proc/$name") or die "its /proc/$name is gone: $!\n";
    }
    show_machine();
  }
  %open;
}

# In a process of its own, the last one that has the rights to it.
sub close_sandbox {
  become_root_inside();
  limit_resources($sandbox->{init});
  limit_inotify(0.25) if counts_for_user();
  if (!$sandbox->{without}{'user-namespaces'}) {
    open(my $limit, '>', '/proc/sys/user/max_user_namespaces') or die "its namespaces stay open: $!\n";
    syswrite $limit, '0' or die "its namespaces stay open: $!\n";
  }
  join_namespaces('net');
  allow_ping();
  join_namespaces('mnt');
  hide_kernel();
  my $options = "newinstance,ptmxmode=0666,mode=620,uid=0,gid=0,max=$sandbox->{terminals}";
  call('mount', 'devpts', '/dev/pts', 'devpts', 0x2a, $options) == 0 or die "its terminals cannot be limited: $!\n";
}

# All files of /proc but those of processes and those that its programs read, such as ps, free and lsblk, are empty: they
# tell of the kernel and of other users of the computer (interrupts, timers, symbols), or change it. Folders are empty ones.
# bwrap has made the remaining settings read-only.
sub hide_kernel {
  my %shown = map { $_ => 1 } qw(cgroups cmdline cpuinfo devices diskstats filesystems key-users keys loadavg locks meminfo
    misc mounts net partitions pressure self stat swaps sys sysrq-trigger sysvipc thread-self tty uptime version vmstat);
  opendir(my $folder, '/proc') or die "its /proc is gone: $!\n";
  my ($null, $tmpfs, $empty) = ('/dev/null', 'tmpfs');
  for my $name (sort readdir $folder) {
    next if $name =~ /\A(?:\.|[0-9]+\z)/ || $shown{$name} || -l "/proc/$name";
    my $path = "/proc/$name";
    if (!-d _) { call('mount', $null, $path, 0, 0x1000, 0) == 0 or die "$path stays open: $!\n" }
    elsif (defined $empty) { call('mount', $empty, $path, 0, 0x1000, 0) == 0 or die "$path stays open: $!\n" }
    else {
      call('mount', $tmpfs, $path, $tmpfs, 0xf, 'size=4k,mode=0555') == 0 or die "$path stays open: $!\n";
      $empty = $path;
    }
  }
}

# Sockets for echo requests alone, for every group of the sandbox: `ping` works without the right to raw sockets.
sub allow_ping {
  my $last = 0;
  for (split /\n/, read_whole('/proc/self/gid_map')) {
    my ($first, undef, $count) = split;
    $last = $first + $count - 1 if $first + $count - 1 > $last;
  }
  for my $groups ("0 $last", '0 0') {
    open(my $range, '>', '/proc/sys/net/ipv4/ping_group_range') or die "it cannot be allowed to ping: $!\n";
    return if syswrite $range, $groups;
  }
}

# Nothing of the sandbox has run yet: its files are as they were made.
sub become_another {
  my ($request) = @_;
  my $name = $request->{hostname};
  become_root_inside();
  join_namespaces('uts', 'mnt');
  call('sethostname', $name, length $name) == 0 or die "it cannot be named: $!\n";
  call('mount', 'tmpfs', '/dev/shm', 'tmpfs', 0x26, "size=$request->{shared}") == 0 or die "its memory: $!\n";
  put_entry(@$_) for @{$request->{entries}};
}

sub use_processors {
  my @processors = @{$sandbox->{processors} || []} or return;
  my $mask = "\0" x 128;
  vec($mask, $_, 1) = 1 for @processors;
  for my $pid (@_) { call('sched_setaffinity', $pid, length $mask, $mask) == 0 or die "cannot choose its processors: $!\n" }
}

sub listen_for_host {
  chdir $sandbox->{folder} or die "its folder is gone: $!\n";
  my $mask = umask 0177;
  ($fork_server_door, $side_door) = map { listener($_) } 'keeper', 'door';
  umask $mask;
  chdir '/';
}

# The fork server stands in the door, so that nothing has to be started to get in. It counts among the sandbox's processes and
# its memory, so the kernel may end it when these are used up: the next request then starts another.
sub start_fork_server {
  ($fork_server, my $said) = helper(sub {
    my ($says) = @_;
    eval { keep_door($says); 1 } or send_all($says, $@);
  });
  my $word = '';
  sysread $said, $word, 4096;
  if ($word ne "ready\n") {
    end_all($fork_server);
    undef $fork_server;
    die $word || "its fork server ended\n";
  }
  $fork_server_ending = process_file($fork_server);
}

sub process_file {
  my ($pid) = @_;
  my $number = call('pidfd_open', $pid, 0);
  $number >= 0 && open(my $file, '<&=', $number) or die "no process $pid: $!\n";
  $file;
}

sub keep_door {
  my ($says) = @_;
  $0 = 'steward fork-server';
  close $side_door;
  use_processors(0);
  enter_sandbox();
  call('prctl', 1, 9, 0, 0, 0);
  open(STDERR, '>', '/dev/null');
  send_all($says, "ready\n");
  close $says;
  $SIG{CHLD} = 'IGNORE';
  while (1) {
    my $caller = admitted($fork_server_door, $sandbox->{owner}) or next;
    my $child = fork;
    $peer = $caller;
    if (!defined $child) { tell_('e', 'room', $! + 0); finish() }
    elsif (!$child) {
      close $fork_server_door;
      $SIG{CHLD} = 'DEFAULT';
      serve();
    }
    close $peer;
  }
}

# Comes in from outside: for when the sandbox has no room for another process.
sub open_side_door {
  my $caller = admitted($side_door, $sandbox->{owner}) or return;
  my ($pid) = eval {
    helper(sub {
      $peer = $caller;
      eval { use_processors(0); enter_sandbox(); 1 } or fail('namespaces');
      serve();
    });
  };
  $helpers{$pid} = process_file($pid) if $pid;
}

sub stay {
  my $ending = process_file($bwrap);
  while (1) {
    my @files = ($control, $ending, $side_door, values %helpers, $fork_server ? $fork_server_ending : $fork_server_door);
    my $ready = readable(@files);
    if (vec($ready, fileno $ending, 1)) {
      waitpid $bwrap, 0;
      my $status = $?;
      end_all($fork_server, keys %helpers);
      tell_host({ ended => $status });
      exit;
    }
    take_requests() if vec($ready, fileno $control, 1);
    if ($fork_server && vec($ready, fileno $fork_server_ending, 1)) { waitpid $fork_server, 0; undef $fork_server }
    elsif (!$fork_server && vec($ready, fileno $fork_server_door, 1)) { eval { start_fork_server(); 1 } or turn_away() }
    open_side_door() if vec($ready, fileno $side_door, 1);
    for my $pid (keys %helpers) {
      vec($ready, fileno $helpers{$pid}, 1) or next;
      waitpid $pid, 0;
      delete $helpers{$pid};
      network_ended() if ($network{pid} || 0) == $pid;
    }
    show_machine() if $view && time != $view->{shown};
  }
}

# Whoever waits at the door of a fork server that cannot be started comes in from outside.
sub turn_away {
  my $caller = admitted($fork_server_door, $sandbox->{owner}) or return;
  $peer = $caller;
  tell_('e', 'room', 11);
  close $peer;
}

# The process beside pasta is not killed: it ends with its lifeline, when it has ended pasta. Where AppArmor has a profile
# for pasta the kernel would not end that with it.
sub end_all {
  my @children = grep { defined } @_;
  my $beside = $network{pid} || 0;
  kill 9, grep { $_ != $beside } @children;
  delete $network{lifeline};
  waitpid $_, 0 for @children;
}

sub take_requests {
  my $got = sysread $control, $asked, 65536, length $asked;
  if (!$got) {
    $sandbox->{init} ? kill 9, $sandbox->{init} : kill_start();
    end_all($bwrap, $fork_server, keys %helpers);
    exit;
  }
  while ($asked =~ s/\A([^\n]*)\n//) {
    my $request = from_json($1);
    my $work = $asked_for{$request->{do}};
    my $answer = { answer => $request->{id} };
    eval { $work ? $work->($request) : die "It cannot $request->{do}.\n"; 1 } or $answer->{failed} = $@;
    tell_host($answer);
  }
}

%asked_for = (
  end => sub { $sandbox->{init} ? kill 9, $sandbox->{init} : kill_start() },
  become => sub {
    my ($request) = @_;
    $sandbox->{processors} = $request->{processors};
    use_processors($sandbox->{init}, $fork_server ? $fork_server : ());
    wait_for(helper(sub {
      my ($says) = @_;
      eval { become_another($request); 1 } or send_all($says, $@);
    }));
    $view->{$_} = $request->{view}{$_} for keys %{$request->{view}};
    show_machine();
  },
  network => sub {
    my ($request) = @_;
    my %request = (%{$request->{network}}, net => "/proc/$$/fd/" . fileno $pins{net});
    pipe(my $alive, $network{lifeline}) or die "no pipe: $!\n";
    my ($pid, $said) = helper(sub {
      my ($says) = @_;
      open(STDIN, '<&', $alive) && open(STDOUT, '>&', $says) or exit 1;
      close $_ for $alive, $says;
      connect_network(\%request);
    });
    close $alive;
    $helpers{$pid} = process_file($pid);
    $network{pid} = $pid;
    my $word = '';
    1 while $word !~ /\n/ && sysread $said, $word, 65536, length $word;
    return if $word eq "connected\n";
    %network = ();
    my $told = eval { from_json($word) };
    die(($told && $told->{reason} || 'its helper ended') . "\n");
  },
);

sub network_ended {
  %network = ();
  tell_host({ network => 'lost' });
}
