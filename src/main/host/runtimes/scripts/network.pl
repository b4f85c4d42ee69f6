# Connects one network namespace by `pasta`, and stays beside it as long as it runs.
#
# `network_main` reads the arguments of `connect_network` from the JSON argument; a process that was forked with this
# compiled calls `connect_network` itself. Either way STDIN is the lifeline: when it ends, so do pasta and this process.
# STDOUT gets one line: `connected`, or `{"reason": "..."}`.

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
#   net        path of the namespace; its owner, a user namespace, is asked from it
#   uid        whom pasta and the rules belong to; undef: the user that runs this
#   nft, rules program and its input: they are in force before pasta starts
#   frame_rules its input once pasta has made the card, before `connected` is said; undef for none
#   own        chains that refuse the addresses of this computer, and their verdicts: `rules` and, with `frame_rules`,
#              `frames`; undef to refuse none
#   pasta, pasta_arguments
#   way        `files` or `process`: how pasta is told of the namespaces; see `start_pasta`
#   seconds    until the route must be there
#   users      of `network_main`: a process whose user namespace is joined first; see `join_users` of `range`
#   new        true: a throwaway namespace is made and connected in the place of `net`
# Neither the arguments nor pasta get a process number of a sandbox: what a number means may have changed since.
sub connect_network {
  my ($given) = @_;
  $0 = 'steward network';
  $SIG{PIPE} = 'IGNORE';
  # A signal at the end of its parent would leave pasta behind; the lifeline does not.
  call('prctl', PR_SET_PDEATHSIG, 0, 0, 0, 0);
  my $connection = eval { connected_network($given) };
  if (!$connection) {
    my $reason = $@;
    chomp $reason;
    send_all(\*STDOUT, to_json({ reason => $reason }) . "\n");
    return 1;
  }
  send_all(\*STDOUT, "connected\n");
  close STDOUT;
  # An address that cannot be refused ends the connection.
  eval { follow_addresses($given, $connection) };
  network_end($connection->{pasta});
  0;
}

# Refuses addresses that this computer gets later, until pasta ends or the lifeline does.
sub follow_addresses {
  my ($given, $connection) = @_;
  my ($news, $ending) = @$connection{'news', 'ending'};
  while (1) {
    my @ready = network_select([$news, $ending, \*STDIN], undef);
    return if grep { $_ != $news } @ready;
    next unless own_may_have_changed($news) && $given->{own_rules};
    my @ranges = own_ranges();
    next if "@ranges" eq $connection->{ranges};
    pipe(my $said, my $says) or die "no pipe: $!\n";
    my $child = network_fork();
    if (!$child) {
      close $said;
      eval {
        join_network(@$connection{'user', 'net'});
        set_rules($given->{nft}, join '', map { own_rules($_, @ranges) } grep { $_ } @{$given->{own_rules}}{'rules', 'frames'});
        send_all($says, "set\n");
      };
      network_leave();
    }
    close $says;
    my $is_set = defined readline $said;
    network_end($child);
    $is_set or return;
    $connection->{ranges} = "@ranges";
  }
}

sub connected_network {
  my ($given) = @_;
  # A missing rule must not pass as one that allows everything.
  for my $key ('rules', 'frame_rules', 'own_rules') {
    exists $given->{$key} or die "the network request lacks $key\n";
  }
  my $deadline = network_now() + $given->{seconds};
  my $net;
  # Only whoever runs this may look into the process that holds it open.
  if (!$given->{new}) { open($net, '<', $given->{net}) or die "its network namespace cannot be opened: $!\n" }
  if (defined $given->{uid}) {
    own_tunnel($given->{uid});
    network_become($given->{uid});
  }
  $net = throwaway_network() if $given->{new};
  my $owner = ioctl($net, NS_GET_USERNS, 0);
  defined $owner or die "the owner of its network namespace cannot be found: $!\n";
  open(my $user, '<&=', $owner) or die "the owner of its network namespace cannot be opened: $!\n";
  my $news = network_news(RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE);
  my @ranges = own_ranges();
  my $inside = start_inside($given, $user, $net, @ranges);
  my $pasta = {};
  eval {
    inside_says($inside, 'rules', $deadline, $pasta);
    start_pasta($given, { user => $user, net => $net, inside => $inside->{pid} }, $pasta);
    inside_says($inside, 'route', $deadline, $pasta);
    1;
  } or do {
    my $reason = $@;
    network_end($_) for grep { defined } $inside->{pid}, $pasta->{pid};
    die $reason;
  };
  network_end($inside->{pid});
  # What pasta may still say goes nowhere, and never makes it wait.
  close $pasta->{said};
  { pasta => $pasta->{pid}, ending => $pasta->{ending}, news => $news, ranges => "@ranges", user => $user, net => $net };
}

# What is delivered to this computer now, by the kernel's own table: also addresses of `lo`, and whole networks.
sub own_ranges {
  my ($local) = read_whole('/proc/self/net/fib_trie') =~ /^Local:\n(.*)\z/ms;
  my ($address, %ranges);
  for my $line (split /\n/, $local // '') {
    if ($line =~ /\|-- ([0-9.]+)\z/) { $address = $1 }
    elsif ($line =~ m{^\s+/([0-9]+) \w+ LOCAL\b}) { $ranges{"$address/$1"} = 1 }
  }
  %ranges or die "the addresses of this computer cannot be read\n";
  sort keys %ranges;
}

# Rules of nft that put these ranges into the place of those that a chain has.
sub own_rules {
  my ($own, @ranges) = @_;
  my ($chain, $verdict) = @$own or return '';
  join '', "flush chain $chain\n", map { "add rule $chain ip daddr $_ $verdict\n" } @ranges;
}

# Where the user may not use the tunnel device, it gets another of its own, which only this process and pasta see.
sub own_tunnel {
  my ($uid) = @_;
  my $groups = $);
  $) = "$uid $uid";
  $> = $uid;
  my $usable = sysopen(my $tunnel, '/dev/net/tun', O_RDWR);
  $> = $<;
  $) = $groups;
  return if $usable;
  my ($root, $devices, $type, $null) = ('/', '/dev', 'tmpfs', '/dev/null');
  my $refused = 'a tunnel device of its own cannot be made';
  call('unshare', CLONE_NEWNS) == 0 or die "$refused: $!\n";
  call('mount', $root, $root, 0, MS_REC_PRIVATE, 0) == 0 or die "$refused: $!\n";
  call('mount', $type, $devices, $type, 0, 'mode=0755,size=64k') == 0 or die "$refused: $!\n";
  mkdir '/dev/net', 0755 or die "$refused: $!\n";
  network_device('/dev/net/tun', 10, 200) && network_device('/dev/null', 1, 3) or die "$refused: $!\n";
}

sub network_device {
  my ($path, $major, $minor) = @_;
  my $mask = umask 0;
  my $made = call('mknodat', AT_FDCWD, $path, 0020666, $major << 8 | $minor) == 0;
  umask $mask;
  $made;
}

sub network_become {
  my ($uid) = @_;
  $) = "$uid $uid";
  call('setresgid', $uid, $uid, $uid) == 0 && call('setresuid', $uid, $uid, $uid) == 0
    or die "the user of the sandbox cannot be taken: $!\n";
}

# Returns an open file of a network namespace that was just made, as a sandbox has one. It goes with its last process.
sub throwaway_network {
  my ($uid, $gid) = ($>, $) + 0);
  pipe(my $made, my $makes) or die "no pipe: $!\n";
  my $child = network_fork();
  if (!$child) {
    close $made;
    # Without PR_SET_DUMPABLE its files in /proc belong to root.
    my $done = call('unshare', CLONE_NEWUSER | CLONE_NEWNET) == 0
      && call('prctl', PR_SET_DUMPABLE, 1, 0, 0, 0) == 0
      && network_put('/proc/self/setgroups', 'deny')
      && network_put('/proc/self/uid_map', "0 $uid 1")
      && network_put('/proc/self/gid_map', "0 $gid 1");
    syswrite $makes, $done ? "made\n" : "$!\n";
    sleep 3600;
    network_leave();
  }
  close $makes;
  my $said = readline $made;
  my $opened = $said eq "made\n" && open(my $net, '<', "/proc/$child/ns/net");
  network_end($child);
  $opened or die "this user may not make a user namespace with a network: $said";
  $net;
}

sub network_put {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or return 0;
  syswrite $file, $text;
}

# A process of ours in the namespaces: sets the rules, says `rules`, waits for the default route, says `route`. Then it
# waits for its end: pasta may need to find it.
sub start_inside {
  my ($given, $user, $net, @ranges) = @_;
  pipe(my $said, my $says) or die "no pipe: $!\n";
  my $child = network_fork();
  if (!$child) {
    close $said;
    my $done = eval {
      join_network($user, $net);
      # Joining may have taken this back.
      call('prctl', PR_SET_PDEATHSIG, 9, 0, 0, 0);
      # Else pasta, a process of the same user, may not look into it.
      call('prctl', PR_SET_DUMPABLE, 1, 0, 0, 0) if $given->{way} eq 'process';
      my $own = $given->{own_rules} || {};
      set_rules($given->{nft}, $given->{rules} . own_rules($own->{rules} || [], @ranges));
      send_all($says, "rules\n");
      await_route();
      if (defined $given->{frame_rules}) {
        set_rules($given->{nft}, $given->{frame_rules} . own_rules($own->{frames} || [], @ranges), 'its frame rules');
      }
      1;
    };
    my $reason = $@;
    send_all($says, $done ? "route\n" : "failed $reason");
    sleep 3600 while $done;
    network_leave();
  }
  close $says;
  { pid => $child, said => $said, text => '' };
}

sub join_network {
  my ($user, $net) = @_;
  call('setns', fileno $user, CLONE_NEWUSER) == 0 && call('setns', fileno $net, CLONE_NEWNET) == 0
    or die "its namespaces cannot be joined: $!\n";
}

sub set_rules {
  my ($nft, $wanted, $name) = @_;
  pipe(my $rules, my $to) && pipe(my $complaint, my $complains) or die "no pipe: $!\n";
  my $child = network_fork();
  if (!$child) {
    open(STDIN, '<&', $rules) && open(STDOUT, '>', '/dev/null') && open(STDERR, '>&', $complains) or network_leave();
    close $_ for $to, $complaint;
    %ENV = ();
    { exec { $nft } 'nft', '-f', '-' }
    syswrite STDERR, "$nft: $!\n";
    network_leave();
  }
  close $_ for $rules, $complains;
  send_all($to, $wanted);
  close $to;
  my $text = '';
  1 while sysread $complaint, $text, 4096, length $text;
  waitpid $child, 0;
  $? == 0 or die(($name || 'its rules') . ' could not be set: ' . network_words($text) . "\n");
}

# The kernel tells of each change; one that came before is seen by looking.
sub await_route {
  my $news = network_news(RTMGRP_IPV4_ROUTE);
  until (read_whole('/proc/self/net/route') =~ /^eth0\t00000000\t/m) {
    sysread $news, my $nothing, 65536;
  }
}

# Messages of the kernel to these groups of rtnetlink(7).
sub network_news {
  my ($groups) = @_;
  socket(my $news, AF_NETLINK, 3, 0) or die "the network cannot be watched: $!\n";
  bind $news, pack 'S S L L', AF_NETLINK, 0, 0, $groups or die "the network cannot be watched: $!\n";
  $news;
}

# Takes all messages. Those about addresses and local routes count, and one that was lost (ENOBUFS): the table of a router
# is large, and its other routes change often.
sub own_may_have_changed {
  my ($news) = @_;
  my $may_have = 0;
  while (1) {
    if (!defined recv $news, my $messages, 65536, MSG_DONTWAIT) {
      return $may_have if $! != 105;
      $may_have = 1;
      next;
    }
    else {
      while (length $messages >= 24) {
        my ($length, $type) = unpack 'L S', $messages;
        my $is_route = $type == RTM_NEWROUTE || $type == RTM_DELROUTE;
        $may_have = 1 if !$is_route || unpack('C', substr $messages, 23, 1) == RTN_LOCAL;
        last if $length < 16;
        substr $messages, 0, ($length + 3) & ~3, '';
      }
    }
  }
}

# With `files` pasta opens the namespaces that it inherits, which it may under AppArmor's profile of Debian 12, where it may
# see no other process. Later versions close what they inherit: with `process` it gets the number of the process of
# ours that is in these namespaces. It is our child until we wait for it, so nobody else can have its number.
sub start_pasta {
  my ($given, $of, $pasta) = @_;
  pipe(my $said, my $says) or die "no pipe: $!\n";
  my $child = network_fork();
  if (!$child) {
    open(STDIN, '<', '/dev/null') && open(STDOUT, '>', '/dev/null') && open(STDERR, '>&', $says) or network_leave();
    my @which = ($of->{inside});
    if ($given->{way} eq 'files') {
      # 2 is F_SETFD: these two stay open.
      fcntl($_, 2, 0) for $of->{user}, $of->{net};
      @which = ('--userns', '/proc/self/fd/' . fileno $of->{user}, '--netns', '/proc/self/fd/' . fileno $of->{net});
    }
    %ENV = ();
    # What floods the network slows down neither Steward nor other sandboxes.
    eval { setpriority 0, 0, 5 };
    $SIG{PIPE} = 'DEFAULT'; # pasta of Debian 12 takes an ignored one for a failure
    { exec { $given->{pasta} } 'pasta', @{$given->{pasta_arguments}}, @which }
    syswrite STDERR, "$given->{pasta}: $!\n";
    network_leave();
  }
  close $says;
  my $ending = call('pidfd_open', $child, 0);
  $pasta->{pid} = $child;
  $pasta->{said} = $said;
  open($pasta->{ending}, '<&=', $ending) or die "pasta cannot be watched: $!\n";
}

# Waits for one line of the process inside, unless pasta ends before, or whoever asked.
sub inside_says {
  my ($inside, $wanted, $deadline, $pasta) = @_;
  my $line;
  until (defined $line) {
    if ($inside->{text} =~ s/\A([^\n]*)\n//) { $line = $1; last }
    my @watched = grep { defined } $inside->{said}, $pasta->{ending}, \*STDIN;
    my @ready = network_select(\@watched, $deadline - network_now());
    @ready or die pasta_words($pasta, 'there was no route in time') . "\n";
    for my $ready (@ready) {
      if ($ready == \*STDIN) { die "it was called off\n" }
      elsif ($ready == $inside->{said}) {
        sysread $ready, $inside->{text}, 4096, length $inside->{text} or die "its namespaces are gone\n";
      }
      else { die pasta_words($pasta, 'pasta ended') . "\n" }
    }
  }
  $line eq $wanted or die $line =~ /\Afailed (.*)/ ? "$1\n" : "it said $line\n";
}

# What pasta complained about, which it has said by now.
sub pasta_words {
  my ($pasta, $otherwise) = @_;
  $pasta->{said} or return $otherwise;
  fcntl($pasta->{said}, 4, O_NONBLOCK);
  my $text = '';
  1 while length $text < 4096 && sysread $pasta->{said}, $text, 4096, length $text;
  $text = join '', grep { !/to syslog$|^Can't run AVX2|will be dropped soon$/ } split /^/, $text;
  my $words = network_words($text);
  $words eq 'no reason was given' ? $otherwise : $words;
}

sub network_words {
  my ($text) = @_;
  my $words = join ' ', grep { length } map { s/\A\s*(?:\d+\.\d+: )?|\s+\z//gr } split /\n/, substr $text, 0, 2000;
  length $words ? $words : 'no reason was given';
}

# A child that ends with this process, also when it is killed. Where AppArmor has a profile for what it executes, the
# kernel takes that back: pasta then ends only with the lifeline.
sub network_fork {
  my $parent = $$;
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    call('prctl', PR_SET_PDEATHSIG, 9, 0, 0, 0);
    getppid() == $parent or network_leave();
  }
  $child;
}

sub network_end { kill 'KILL', $_[0]; waitpid $_[0], 0 }

# Past what a caller of this sub may want to do at its own end.
sub network_leave { kill 'KILL', $$ }

sub network_now { my ($seconds) = split / /, read_whole('/proc/uptime'); $seconds }

# Returns which of these files can be read, or have ended; none when the time is over.
sub network_select {
  my ($files, $seconds) = @_;
  my $wanted = '';
  vec($wanted, fileno $_, 1) = 1 for @$files;
  while (1) {
    my $count = select(my $ready = $wanted, undef, undef, defined $seconds && $seconds < 0 ? 0 : $seconds);
    next if $count < 0 && $! == 4;
    return grep { vec($ready, fileno $_, 1) } @$files;
  }
}

sub network_main {
  my $given = given();
  join_users($given->{users}) if defined $given->{users};
  exit connect_network($given);
}
