# Enters a new user namespace with a range of ids, as its root. A process outside writes the maps: as root directly,
# for an ordinary user through the setuid programs in `mappers`. The flags are those of unshare(2).
#
# With the function `limit`, enters a nested namespace. `limit` runs between the two and sets limits for all users of
# the inner one together: the kernel also counts their usage for its creator in the outer one.
sub enter_range {
  my ($range, $flags, $limit) = @_;
  my $mappers = $range->{mappers} || {};
  my %programs = (uid_map => $mappers->{newuidmap}, gid_map => $mappers->{newgidmap});
  my %ids = (uid_map => $range->{uids}, gid_map => $range->{gids});
  enter_namespace(defined $limit ? 0 : $flags, \%ids, \%programs);
  return unless defined $limit;
  $limit->();
  enter_namespace($flags, { map { $_ => format_identity_map($ids{$_}) } keys %ids }, {});
}

sub enter_namespace {
  my ($flags, $ids, $programs) = @_;
  my $target = $$;
  pipe(my $start_reader, my $start_writer) or die "no pipe: $!\n";
  my $mapper = fork;
  defined $mapper or die "no process: $!\n";
  if (!$mapper) {
    close $start_writer;
    sysread $start_reader, my $discarded, 1 or exit 1;
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
  close $start_reader;
  call('unshare', $flags | 0x10000000) == 0 or die "no user namespace: $!\n";
  syswrite $start_writer, 'x';
  waitpid $mapper, 0;
  $? == 0 or die "the user ids could not be mapped\n";
  $) = '0 0';
  $( = 0;
  ($<, $>) = (0, 0);
  $< == 0 && $> == 0 && $( == 0 or die "cannot become root of the namespace: $!\n";
}

# Joins the user namespace of another process as its root. `users.pl` holds the one of all sandboxes.
sub join_users {
  my ($pid) = @_;
  open(my $users, '<', "/proc/$pid/ns/user") or die "the user namespace of sandboxes no longer exists: $!\n";
  call('setns', fileno $users, 0x10000000) == 0 or die "cannot join the user namespace of sandboxes: $!\n";
}

# Limits inotify to a share of what the kernel allows each user. It has no resource limit, only a user namespace
# limit.
sub limit_inotify {
  my ($share) = @_;
  for my $kind ('instances', 'watches') {
    my $all = read_file("/proc/sys/fs/inotify/max_user_$kind") + 0;
    open(my $limit, '>', "/proc/sys/user/max_inotify_$kind") or die "cannot limit inotify: $!\n";
    syswrite $limit, int $all * $share or die "cannot limit inotify: $!\n";
  }
}

# Formats uid_map(5) lines that map these ids to themselves. One line cannot map to several lines of the outer
# namespace.
sub format_identity_map {
  my @fields = split / /, $_[0];
  join "\n", map { join ' ', @fields[3 * $_, 3 * $_, 3 * $_ + 2] } 0 .. $#fields / 3;
}
