# Enters a new user namespace with a range of ids, as its root. Whoever stays outside writes the maps: root itself, or for
# an ordinary user the programs (`mappers`) that the administrator has allowed to. The flags are those of unshare(2).
#
# With `limit`, a function, it is a namespace in that one. `limit` runs between the two and sets limits for all users of
# the inner one together: the kernel also counts what they use for the user who made it, in the namespace around it.
sub enter_range {
  my ($range, $flags, $limit) = @_;
  my $mappers = $range->{mappers} || {};
  my %programs = (uid_map => $mappers->{newuidmap}, gid_map => $mappers->{newgidmap});
  my %ids = (uid_map => $range->{uids}, gid_map => $range->{gids});
  into_namespace(defined $limit ? 0 : $flags, \%ids, \%programs);
  return unless defined $limit;
  $limit->();
  into_namespace($flags, { map { $_ => same_ids($ids{$_}) } keys %ids }, {});
}

sub into_namespace {
  my ($flags, $ids, $programs) = @_;
  my $target = $$;
  pipe(my $waits, my $goes) or die "no pipe: $!\n";
  my $mapper = fork;
  defined $mapper or die "no process: $!\n";
  if (!$mapper) {
    close $goes;
    sysread $waits, my $nothing, 1 or exit 1;
    for my $name ('uid_map', 'gid_map') {
      my $program = $programs->{$name};
      if (defined $program) { system({ $program } $program, $target, split ' ', $ids->{$name}) == 0 or exit 1 }
      else {
        open(my $file, '>', "/proc/$target/$name") or exit 1;
        syswrite $file, "$ids->{$name}\n" or exit 1;
      }
    }
    exit 0;
  }
  close $waits;
  call('unshare', $flags | 0x10000000) == 0 or die "no user namespace: $!\n";
  syswrite $goes, 'x';
  waitpid $mapper, 0;
  $? == 0 or die "its users could not be mapped\n";
  $) = '0 0';
  $( = 0;
  ($<, $>) = (0, 0);
  $< == 0 && $> == 0 && $( == 0 or die "cannot become root of its namespace: $!\n";
}

# Joins the user namespace of another process of ours, and is its root. The process `users.pl` holds one for all sandboxes.
sub join_users {
  my ($pid) = @_;
  open(my $users, '<', "/proc/$pid/ns/user") or die "the user namespace of sandboxes is gone: $!\n";
  call('setns', fileno $users, 0x10000000) == 0 or die "cannot join the user namespace of sandboxes: $!\n";
}

# Inotify has no resource limit but one of the user namespace: a share of what the kernel allows each user.
sub limit_inotify {
  my ($share) = @_;
  for my $kind ('instances', 'watches') {
    my $all = read_whole("/proc/sys/fs/inotify/max_user_$kind") + 0;
    open(my $limit, '>', "/proc/sys/user/max_inotify_$kind") or die "its watches stay unlimited: $!\n";
    syswrite $limit, int $all * $share or die "its watches stay unlimited: $!\n";
  }
}

# Lines of uid_map(5) that leave these ids as they are: one line cannot lead to several of the namespace around.
sub same_ids {
  my @fields = split / /, $_[0];
  join "\n", map { join ' ', @fields[3 * $_, 3 * $_, 3 * $_ + 2] } 0 .. $#fields / 3;
}
