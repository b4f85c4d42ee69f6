# Changes the owners of all files below a folder to the range of `$count` ids from `$first`: the folder's owner
# becomes the first id, and so on. A second call continues an interrupted one, because the folder itself is changed
# last.
sub shift_owners {
  my ($top, $first, $count) = @_;
  my $before = (lstat $top)[4];
  my @pending = ($top);
  my %seen; # files with several names appear more than once
  while (defined(my $path = pop @pending)) {
    my ($file, $mode, $names, $uid, $gid) = (lstat $path)[1 .. 5] or die "cannot see $path: $!\n";
    if (($mode & 0170000) == 0040000) {
      opendir(my $folder, $path) or die "cannot read $path: $!\n";
      push @pending, map { "$path/$_" } grep { $_ ne '.' && $_ ne '..' } readdir $folder;
      next if $path eq $top;
    }
    elsif ($names > 1 && $seen{$file}++) { next }
    my ($user, $group) = map { $_ >= $first && $_ < $first + $count ? $_ - $first : $_ - $before } $uid, $gid;
    die "$path has an owner outside the sandbox\n" if grep { $_ < 0 || $_ >= $count } $user, $group;
    chown_file($path, $first + $user, $first + $group);
    next if ($mode & 0170000) == 0120000 || !($mode & 06000);
    chmod $mode & 07777, $path or die "cannot change $path: $!\n";
  }
  chown_file($top, $first, $first);
}

sub chown_file {
  my ($path, $user, $group) = @_;
  call('fchownat', AT_FDCWD, $path, $user + 0, $group + 0, 0x100) == 0 or die "cannot change the owner of $path: $!\n";
}
