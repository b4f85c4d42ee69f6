# Enters a new user namespace with a range of ids, as its root. Whoever stays outside writes the maps: root itself, or for
# an ordinary user the programs (`mappers`) that the administrator has allowed to. The flags are those of unshare(2).
sub enter_range {
  my ($range, $flags) = @_;
  my $mappers = $range->{mappers} || {};
  my $target = $$;
  pipe(my $waits, my $goes) or die "no pipe: $!\n";
  my $mapper = fork;
  defined $mapper or die "no process: $!\n";
  if (!$mapper) {
    close $goes;
    sysread $waits, my $nothing, 1 or exit 1;
    for my $map (['uid_map', $range->{uids}, $mappers->{newuidmap}], ['gid_map', $range->{gids}, $mappers->{newgidmap}]) {
      my ($name, $ids, $program) = @$map;
      if (defined $program) { system({ $program } $program, $target, split / /, $ids) == 0 or exit 1 }
      else {
        open(my $file, '>', "/proc/$target/$name") or exit 1;
        syswrite $file, "$ids\n" or exit 1;
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
