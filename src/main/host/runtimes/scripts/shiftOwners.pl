# Gives the files below `folder` to the range of `count` ids that begins with `first`: those of the folder's own owner to
# the first of it, and so on.
my $given = given();
my ($top, $first, $count) = @$given{'folder', 'first', 'count'};
my $before = (lstat $top)[4];
my @left = ($top);
my %done; # files with more than one name come more than once
while (defined(my $path = pop @left)) {
  my ($file, $mode, $names, $uid, $gid) = (lstat $path)[1 .. 5] or die "cannot see $path: $!\n";
  next if ($mode & 0170000) != 0040000 && $names > 1 && $done{$file}++;
  my ($user, $group) = ($uid - $before, $gid - $before);
  die "$path belongs to nobody of the machine\n" if grep { $_ < 0 || $_ >= $count } $user, $group;
  if (($mode & 0170000) == 0040000) {
    opendir(my $folder, $path) or die "cannot read $path: $!\n";
    push @left, map { "$path/$_" } grep { $_ ne '.' && $_ ne '..' } readdir $folder;
  }
  call('fchownat', AT_FDCWD, $path, $first + $user, $first + $group, 0x100) == 0 or die "cannot give away $path: $!\n";
  next if ($mode & 0170000) == 0120000 || !($mode & 06000);
  chmod $mode & 07777, $path or die "cannot change $path: $!\n";
}
