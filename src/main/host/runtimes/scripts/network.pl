# Connects one network namespace with `pasta`, and supervises it while it runs.
#
# `run_network` reads the arguments of `connect_network` from the JSON argument; a forked process that has this script
# compiled calls `connect_network` directly. STDIN is the lifeline: when it ends, pasta and this process end. STDOUT
# gets one line: `connected`, or `{"reason": "..."}`.

sub O_RDWR() { 2 }
sub CLONE_NEWNS() { 0x20000 }
sub CLONE_NEWUSER() { 0x10000000 }
sub CLONE_NEWNET() { 0x40000000 }
sub MS_REC_PRIVATE() { 0x44000 }
sub NS_GET_USERNS() { 0xb701 }
sub PR_SET_PDEATHSIG() { 1 }
sub PR_SET_DUMPABLE() { 4 }
sub AF_NETLINK() { 16 }
sub RTMGRP_IPV4_IFADDR() { 0x10 }
sub RTMGRP_IPV4_ROUTE() { 0x40 }
sub MSG_DONTWAIT() { 0x40 }
sub RTM_NEWROUTE() { 24 }
sub RTM_DELROUTE() { 25 }
sub RTN_LOCAL() { 2 }

# Arguments:
#   net        path of the namespace, whose owner is a user namespace
#   uid        owner of pasta and the rules; undef: the user of this process
#   nft, rules program and its input; in force before pasta starts
#   frame_rules input of nft after pasta has created the network card, before `connected`; undef for none
#   own        chains that block the addresses of this computer, and their verdicts: `rules` and, with `frame_rules`,
#              `frames`; undef to block none
#   pasta, pasta_arguments
#   way        `files` or `process`: how pasta receives the namespaces; see `start_pasta`
#   seconds    timeout for the route
#   users      for `run_network`: a process whose user namespace is joined first; see `join_users` of `range`
#   new        true: creates a temporary namespace and connects it instead of `net`
# The arguments contain no PID of a sandbox, because the kernel may have reused it.
sub connect_network {
  my ($options) = @_;
  $0 = 'steward network';
  $SIG{PIPE} = 'IGNORE';
  # Death by a parent-death signal would leave pasta running; the lifeline does not.
  call('prctl', PR_SET_PDEATHSIG, 0, 0, 0, 0);
  my $connection = eval { establish_network($options) };
  if (!$connection) {
    my $reason = $@;
    chomp $reason;
    send_all(\*STDOUT, to_json({ reason => $reason }) . "\n");
    return 1;
  }
  send_all(\*STDOUT, "connected\n");
  close STDOUT;
  # The connection ends if a new address cannot be blocked.
  eval { follow_addresses($options, $connection) };
  kill_child($connection->{pasta});
  0;
}

# Blocks addresses that this computer gets later, until pasta or the lifeline ends.
sub follow_addresses {
  my ($options, $connection) = @_;
  my ($route_socket, $ending) = @$connection{'route_socket', 'ending'};
  while (1) {
    my @ready = wait_readable([$route_socket, $ending, \*STDIN], undef);
    return if grep { $_ != $route_socket } @ready;
    next unless has_address_change($route_socket) && $options->{own_rules};
    my @ranges = read_local_ranges();
    next if "@ranges" eq $connection->{ranges};
    pipe(my $reader, my $writer) or die "no pipe: $!\n";
    my $child = fork_child();
    if (!$child) {
      close $reader;
      eval {
        join_network(@$connection{'user', 'net'});
        set_rules($options->{nft}, join '', map { format_local_rules($_, @ranges) } grep { $_ } @{$options->{own_rules}}{'rules', 'frames'});
        send_all($writer, "set\n");
      };
      kill_self();
    }
    close $writer;
    my $is_set = defined readline $reader;
    kill_child($child);
    $is_set or return;
    $connection->{ranges} = "@ranges";
  }
}

sub establish_network {
  my ($options) = @_;
  # A missing rule must not allow everything.
  for my $key ('rules', 'frame_rules', 'own_rules') {
    exists $options->{$key} or die "the network request lacks $key\n";
  }
  my $deadline = get_uptime() + $options->{seconds};
  my $net;
  # Only the user of this process can access the process that holds the namespace open.
  if (!$options->{new}) { open($net, '<', $options->{net}) or die "its network namespace cannot be opened: $!\n" }
  if (defined $options->{uid}) {
    create_tunnel_device($options->{uid});
    become_network_user($options->{uid});
  }
  $net = create_temporary_network() if $options->{new};
  my $owner = ioctl($net, NS_GET_USERNS, 0);
  defined $owner or die "the owner of its network namespace cannot be found: $!\n";
  open(my $user, '<&=', $owner) or die "the owner of its network namespace cannot be opened: $!\n";
  my $route_socket = open_route_socket(RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE);
  my @ranges = read_local_ranges();
  my $inside = start_inner_process($options, $user, $net, @ranges);
  my $pasta = {};
  eval {
    await_inner_line($inside, 'rules', $deadline, $pasta);
    start_pasta($options, { user => $user, net => $net, inside => $inside->{pid} }, $pasta);
    await_inner_line($inside, 'route', $deadline, $pasta);
    1;
  } or do {
    my $reason = $@;
    kill_child($_) for grep { defined } $inside->{pid}, $pasta->{pid};
    die $reason;
  };
  kill_child($inside->{pid});
  # Further output of pasta is discarded and never blocks it.
  close $pasta->{output};
  { pasta => $pasta->{pid}, ending => $pasta->{ending}, route_socket => $route_socket, ranges => "@ranges", user => $user, net => $net };
}

# Returns the ranges that are local to this computer, from the kernel's table: also addresses of `lo` and whole
# networks.
sub read_local_ranges {
  my ($local) = read_file('/proc/self/net/fib_trie') =~ /^Local:\n(.*)\z/ms;
  my ($address, %ranges);
  for my $line (split /\n/, $local // '') {
    if ($line =~ /\|-- ([0-9.]+)\z/) { $address = $1 }
    elsif ($line =~ m{^\s+/([0-9]+) \w+ LOCAL\b}) { $ranges{"$address/$1"} = 1 }
  }
  %ranges or die "the addresses of this computer cannot be read\n";
  sort keys %ranges;
}

# Formats nft rules that replace the ranges of a chain by these.
sub format_local_rules {
  my ($own, @ranges) = @_;
  my ($chain, $verdict) = @$own or return '';
  join '', "flush chain $chain\n", map { "add rule $chain ip daddr $_ $verdict\n" } @ranges;
}

# Creates a private tunnel device, visible to this process and pasta only, if the user cannot use the one of the host.
sub create_tunnel_device {
  my ($uid) = @_;
  my $groups = $);
  $) = "$uid $uid";
  $> = $uid;
  my $can_open = sysopen(my $tunnel, '/dev/net/tun', O_RDWR);
  $> = $<;
  $) = $groups;
  return if $can_open;
  my ($root, $devices, $type, $null) = ('/', '/dev', 'tmpfs', '/dev/null');
  my $message = 'a tunnel device of its own cannot be made';
  call('unshare', CLONE_NEWNS) == 0 or die "$message: $!\n";
  call('mount', $root, $root, 0, MS_REC_PRIVATE, 0) == 0 or die "$message: $!\n";
  call('mount', $type, $devices, $type, 0, 'mode=0755,size=64k') == 0 or die "$message: $!\n";
  mkdir '/dev/net', 0755 or die "$message: $!\n";
  create_device('/dev/net/tun', 10, 200) && create_device('/dev/null', 1, 3) or die "$message: $!\n";
}

sub create_device {
  my ($path, $major, $minor) = @_;
  my $mask = umask 0;
  my $success = call('mknodat', AT_FDCWD, $path, 0020666, $major << 8 | $minor) == 0;
  umask $mask;
  $success;
}

sub become_network_user {
  my ($uid) = @_;
  $) = "$uid $uid";
  call('setresgid', $uid, $uid, $uid) == 0 && call('setresuid', $uid, $uid, $uid) == 0
    or die "the user of the sandbox cannot be taken: $!\n";
}

# Creates a network namespace like that of a sandbox and returns a handle of it. It ends with its last process.
sub create_temporary_network {
  my ($uid, $gid) = ($>, $) + 0);
  pipe(my $result_reader, my $result_writer) or die "no pipe: $!\n";
  my $child = fork_child();
  if (!$child) {
    close $result_reader;
    # Without PR_SET_DUMPABLE its files in /proc belong to root.
    my $succeeded = call('unshare', CLONE_NEWUSER | CLONE_NEWNET) == 0
      && call('prctl', PR_SET_DUMPABLE, 1, 0, 0, 0) == 0
      && write_proc_file('/proc/self/setgroups', 'deny')
      && write_proc_file('/proc/self/uid_map', "0 $uid 1")
      && write_proc_file('/proc/self/gid_map', "0 $gid 1");
    syswrite $result_writer, $succeeded ? "made\n" : "$!\n";
    sleep 3600;
    kill_self();
  }
  close $result_writer;
  my $line = readline $result_reader;
  my $opened = $line eq "made\n" && open(my $net, '<', "/proc/$child/ns/net");
  kill_child($child);
  $opened or die "this user may not make a user namespace with a network: $line";
  $net;
}

sub write_proc_file {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or return 0;
  syswrite $file, $text;
}

# Starts a process in the namespaces that sets the rules, prints `rules`, waits for the default route and prints
# `route`. Then it sleeps until it is killed, because pasta may need to find it.
sub start_inner_process {
  my ($options, $user, $net, @ranges) = @_;
  pipe(my $reader, my $writer) or die "no pipe: $!\n";
  my $child = fork_child();
  if (!$child) {
    close $reader;
    my $succeeded = eval {
      join_network($user, $net);
      # Joining may have reset this.
      call('prctl', PR_SET_PDEATHSIG, 9, 0, 0, 0);
      # Otherwise pasta, a process of the same user, cannot access its namespaces.
      call('prctl', PR_SET_DUMPABLE, 1, 0, 0, 0) if $options->{way} eq 'process';
      my $own = $options->{own_rules} || {};
      set_rules($options->{nft}, $options->{rules} . format_local_rules($own->{rules} || [], @ranges));
      send_all($writer, "rules\n");
      await_route();
      if (defined $options->{frame_rules}) {
        set_rules($options->{nft}, $options->{frame_rules} . format_local_rules($own->{frames} || [], @ranges), 'its frame rules');
      }
      1;
    };
    my $reason = $@;
    send_all($writer, $succeeded ? "route\n" : "failed $reason");
    sleep 3600 while $succeeded;
    kill_self();
  }
  close $writer;
  { pid => $child, output => $reader, text => '' };
}

sub join_network {
  my ($user, $net) = @_;
  call('setns', fileno $user, CLONE_NEWUSER) == 0 && call('setns', fileno $net, CLONE_NEWNET) == 0
    or die "its namespaces cannot be joined: $!\n";
}

sub set_rules {
  my ($nft, $ruleset, $name) = @_;
  pipe(my $rules, my $to) && pipe(my $error_reader, my $error_writer) or die "no pipe: $!\n";
  my $child = fork_child();
  if (!$child) {
    open(STDIN, '<&', $rules) && open(STDOUT, '>', '/dev/null') && open(STDERR, '>&', $error_writer) or kill_self();
    close $_ for $to, $error_reader;
    %ENV = ();
    { exec { $nft } 'nft', '-f', '-' }
    syswrite STDERR, "$nft: $!\n";
    kill_self();
  }
  close $_ for $rules, $error_writer;
  send_all($to, $ruleset);
  close $to;
  my $text = '';
  1 while sysread $error_reader, $text, 4096, length $text;
  waitpid $child, 0;
  $? == 0 or die(($name || 'its rules') . ' could not be set: ' . summarize_error($text) . "\n");
}

# Waits for the default route. Checks the table first, because earlier changes are not reported.
sub await_route {
  my $route_socket = open_route_socket(RTMGRP_IPV4_ROUTE);
  until (read_file('/proc/self/net/route') =~ /^eth0\t00000000\t/m) {
    sysread $route_socket, my $discarded, 65536;
  }
}

# Subscribes to these groups of rtnetlink(7).
sub open_route_socket {
  my ($groups) = @_;
  socket(my $route_socket, AF_NETLINK, 3, 0) or die "the network cannot be watched: $!\n";
  bind $route_socket, pack 'S S L L', AF_NETLINK, 0, 0, $groups or die "the network cannot be watched: $!\n";
  $route_socket;
}

# Drains the socket. Returns whether local addresses may have changed: on a message about an address or a local route,
# or a lost message (ENOBUFS). Other routes are ignored, because those of a router change often.
sub has_address_change {
  my ($route_socket) = @_;
  my $has_changed = 0;
  while (1) {
    if (!defined recv $route_socket, my $messages, 65536, MSG_DONTWAIT) {
      return $has_changed if $! != 105;
      $has_changed = 1;
      next;
    }
    else {
      while (length $messages >= 24) {
        my ($length, $type) = unpack 'L S', $messages;
        my $is_route = $type == RTM_NEWROUTE || $type == RTM_DELROUTE;
        $has_changed = 1 if !$is_route || unpack('C', substr $messages, 23, 1) == RTN_LOCAL;
        last if $length < 16;
        substr $messages, 0, ($length + 3) & ~3, '';
      }
    }
  }
}

# With `files`, pasta opens namespaces that it inherits. The AppArmor profile of Debian 12 allows this, but no access
# to other processes. Later versions close inherited files: with `process`, pasta gets the PID of our process in these
# namespaces. That process is our child until we wait for it, so its PID cannot be reused.
sub start_pasta {
  my ($options, $target, $pasta) = @_;
  pipe(my $reader, my $writer) or die "no pipe: $!\n";
  my $child = fork_child();
  if (!$child) {
    open(STDIN, '<', '/dev/null') && open(STDOUT, '>', '/dev/null') && open(STDERR, '>&', $writer) or kill_self();
    my @arguments = ($target->{inside});
    if ($options->{way} eq 'files') {
      # 2 is F_SETFD: these two stay open.
      fcntl($_, 2, 0) for $target->{user}, $target->{net};
      @arguments = ('--userns', '/proc/self/fd/' . fileno $target->{user}, '--netns', '/proc/self/fd/' . fileno $target->{net});
    }
    %ENV = ();
    # A flood on the network must not slow down Steward or other sandboxes.
    eval { setpriority 0, 0, 5 };
    $SIG{PIPE} = 'DEFAULT'; # pasta of Debian 12 treats an ignored SIGPIPE as a failure
    { exec { $options->{pasta} } 'pasta', @{$options->{pasta_arguments}}, @arguments }
    syswrite STDERR, "$options->{pasta}: $!\n";
    kill_self();
  }
  close $writer;
  my $ending = call('pidfd_open', $child, 0);
  $pasta->{pid} = $child;
  $pasta->{output} = $reader;
  open($pasta->{ending}, '<&=', $ending) or die "pasta cannot be watched: $!\n";
}

# Waits for one line of the inner process. Dies if pasta or the lifeline ends first.
sub await_inner_line {
  my ($inside, $expected, $deadline, $pasta) = @_;
  my $line;
  until (defined $line) {
    if ($inside->{text} =~ s/\A([^\n]*)\n//) { $line = $1; last }
    my @watched = grep { defined } $inside->{output}, $pasta->{ending}, \*STDIN;
    my @ready = wait_readable(\@watched, $deadline - get_uptime());
    @ready or die read_pasta_error($pasta, 'there was no route in time') . "\n";
    for my $ready (@ready) {
      if ($ready == \*STDIN) { die "the connection was cancelled\n" }
      elsif ($ready == $inside->{output}) {
        sysread $ready, $inside->{text}, 4096, length $inside->{text} or die "the inner process exited\n";
      }
      else { die read_pasta_error($pasta, 'pasta ended') . "\n" }
    }
  }
  $line eq $expected or die $line =~ /\Afailed (.*)/ ? "$1\n" : "it said $line\n";
}

# Returns the error output of pasta so far, or `$otherwise`.
sub read_pasta_error {
  my ($pasta, $fallback) = @_;
  $pasta->{output} or return $fallback;
  fcntl($pasta->{output}, 4, O_NONBLOCK);
  my $text = '';
  1 while length $text < 4096 && sysread $pasta->{output}, $text, 4096, length $text;
  $text = join '', grep { !/to syslog$|^Can't run AVX2|will be dropped soon$/ } split /^/, $text;
  my $summary = summarize_error($text);
  $summary eq 'no reason was given' ? $fallback : $summary;
}

sub summarize_error {
  my ($text) = @_;
  my $summary = join ' ', grep { length } map { s/\A\s*(?:\d+\.\d+: )?|\s+\z//gr } split /\n/, substr $text, 0, 2000;
  length $summary ? $summary : 'no reason was given';
}

# Forks a child that is killed when this process ends, even by SIGKILL. The kernel resets this if the child executes a
# program with an AppArmor profile: pasta then ends only with the lifeline.
sub fork_child {
  my $parent = $$;
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    call('prctl', PR_SET_PDEATHSIG, 9, 0, 0, 0);
    getppid() == $parent or kill_self();
  }
  $child;
}

sub kill_child { kill 'KILL', $_[0]; waitpid $_[0], 0 }

# Exits without running any code of the caller.
sub kill_self { kill 'KILL', $$ }

sub get_uptime { my ($seconds) = split / /, read_file('/proc/uptime'); $seconds }

# Returns the files that are readable or at their end; none on timeout.
sub wait_readable {
  my ($files, $seconds) = @_;
  my $watched = '';
  vec($watched, fileno $_, 1) = 1 for @$files;
  while (1) {
    my $count = select(my $ready = $watched, undef, undef, defined $seconds && $seconds < 0 ? 0 : $seconds);
    next if $count < 0 && $! == 4;
    return grep { vec($ready, fileno $_, 1) } @$files;
  }
}

sub run_network {
  my $options = read_options();
  join_users($options->{users}) if defined $options->{users};
  exit connect_network($options);
}
