# Gives the files below a folder to the range of `$count` ids that begins with `$first`: those of the folder's own owner to
# the first of it, and so on. A second call goes on where the first was interrupted: the folder itself comes last.
sub shift_owners {
  my ($top, $first, $count) = @_;
  my $before = (lstat $top)[4];
  my @left = ($top);
  my %done; # files with more than one name come more than once
  while (defined(my $path = pop @left)) {
    my ($file, $mode, $names, $uid, $gid) = (lstat $path)[1 .. 5] or die "cannot see $path: $!\n";
    if (($mode & 0170000) == 0040000) {
      opendir(my $folder, $path) or die "cannot read $path: $!\n";
      push @left, map { "$path/$_" } grep { $_ ne '.' && $_ ne '..' } readdir $folder;
      next if $path eq $top;
    }
    elsif ($names > 1 && $done{$file}++) { next }
    my ($user, $group) = map { $_ >= $first && $_ < $first + $count ? $_ - $first : $_ - $before } $uid, $gid;
    die "$path belongs to nobody of the machine\n" if grep { $_ < 0 || $_ >= $count } $user, $group;
    give_file($path, $first + $user, $first + $group);
    next if ($mode & 0170000) == 0120000 || !($mode & 06000);
    chmod $mode & 07777, $path or die "cannot change $path: $!\n";
  }
  give_file($top, $first, $first);
}

sub give_file {
  my ($path, $user, $group) = @_;
  call('fchownat', AT_FDCWD, $path, $user + 0, $group + 0, 0x100) == 0 or die "cannot give away $path: $!\n";
}
