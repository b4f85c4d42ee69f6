# Enters a new user namespace with a range of ids, as its root. Whoever stays outside writes the maps: root itself, or for
# an ordinary user the programs (`mappers`) that the administrator has allowed to. The flags are those of unshare(2).
#
# With `processes`, it is a namespace in that one, which cannot have more processes, whichever of its users they are of:
# the kernel counts them for the user who made it, in the namespace around it, where nobody else is.
sub enter_range {
  my ($range, $flags, $processes) = @_;
  my $mappers = $range->{mappers} || {};
  my %programs = (uid_map => $mappers->{newuidmap}, gid_map => $mappers->{newgidmap});
  my %ids = (uid_map => $range->{uids}, gid_map => $range->{gids});
  into_namespace(defined $processes ? 0 : $flags, \%ids, \%programs);
  return unless defined $processes;
  limit_resource(0, RLIMIT_NPROC, $processes);
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

# Lines of uid_map(5) that leave these ids as they are: one line cannot lead to several of the namespace around.
sub same_ids {
  my @fields = split / /, $_[0];
  join "\n", map { join ' ', @fields[3 * $_, 3 * $_, 3 * $_ + 2] } 0 .. $#fields / 3;
}
