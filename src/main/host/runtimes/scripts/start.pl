# Becomes bwrap, and with it a sandbox. `launch(\%given)` is called in a process of its own; it dies with a sentence, or
# does not return. Given are:
#
# `cgroups`: files that put who writes 0 to them into the cgroups of the sandbox.
# `uid` and `ids`: whom the sandbox's root becomes, and how many users it has. As root, a user of the host. For an ordinary
# user with subordinate ids, one of the user namespace that has been joined, in which this process is root as well.
# `storage`: `kind` (`folder` or `image`), `path`, and `template`, which is copied to the path first.
# `doorway`: where the content of the sandbox is mounted, for bwrap alone to see.
# `image`: `root` and `range` of an image. `entries`: what is put into its `/`: kind, path, value.
# `files`: pairs of a descriptor and what bwrap reads from it, in hexadecimal.
# `outer_filter`: a seccomp program in hexadecimal. `command`: bwrap and its arguments.
#
# As root it becomes the sandbox's own uid, which may be barred from the folders above the sandbox's: these are left out
# by mounting the sandbox's content elsewhere, in a mount namespace that only bwrap is in. What the host mounts or
# unmounts later reaches this namespace, nothing in it reaches the host.
#
# A disk image is mounted by a loop device that goes away with the namespace. Its lock goes with the device: the same
# file system is never mounted twice. In it the sandbox's root is uid 0, whatever its uid on the host: the mount maps
# the one to the other.
#
# Entries are put by the sandbox's uid and without leaving its `/`, whatever links the sandbox has left there.
#
# A sandbox of an image has a user namespace with a range of ids, in which its `/` is mounted: an overlay of the image,
# which nothing changes, and of what the sandbox has changed itself.
sub launch {
  my ($given) = @_;
  my ($uid, $storage, $doorway, $image) = @$given{'uid', 'storage', 'doorway', 'image'};
  join_cgroups(@{$given->{cgroups}});
  if (defined $uid) { open_door_as_root($given) }
  elsif ($image) {
    my $processes = $given->{without}{'process-limit'} ? undef : $given->{processes};
    enter_range($image->{range}, 0x20000, defined $processes ? sub { limit_resource(0, RLIMIT_NPROC, $processes) } : undef);
    my $below = held_tree($image->{root});
    bind_folder($storage->{path}, $doorway);
    place_tree($below, "$doorway/image");
  }
  overlay_root($doorway) if $image;
  umask 022;
  chdir((defined $uid || $image ? $doorway : $storage->{path}) . '/root') and map { put_entry(@$_) } @{$given->{entries}};
  chdir '/';
  limit_calls($given->{outer_filter}) if defined $given->{outer_filter};
  hand_over(@$_) for @{$given->{files}};
  my @command = @{$given->{command}};
  exec { $command[0] } @command;
  die "cannot run $command[0]: $!\n";
}

sub join_cgroups {
  for my $path (@_) {
    open(my $file, '>', $path) or die "cannot join its cgroup: $!\n";
    syswrite($file, "0\n") or die "cannot join its cgroup: $!\n";
  }
}

# Calls that the filter refuses fail from now on, here and in whatever is started from here.
sub limit_calls {
  my $program = pack 'H*', $_[0];
  my $list = pack 'S x![P] P', length($program) / 8, $program;
  call('prctl', 38, 1, 0, 0, 0) == 0 && call('seccomp', 1, 4, $list) == 0 or die "cannot limit its system calls: $!\n";
}

my @handed_over;
# What is executed next finds this content at the descriptor.
sub hand_over {
  my ($descriptor, $content) = @_;
  my $name = 'steward';
  my $file = call('memfd_create', $name, 0);
  $file >= 0 or die "no memory file: $!\n";
  open(my $memory, '+<&=', $file) or die "no memory file: $!\n";
  send_all($memory, pack 'H*', $content) or die "cannot fill a memory file: $!\n";
  sysseek $memory, 0, 0;
  push @handed_over, hand_over_file($memory, $descriptor);
}
# Returns what must stay open until then.
sub hand_over_file {
  my ($file, $descriptor) = @_;
  if (fileno $file == $descriptor) { fcntl($file, 2, 0); return $file }
  call('dup3', fileno $file, $descriptor, 0) >= 0 or die "no descriptor $descriptor: $!\n";
  ();
}

sub open_door_as_root {
  my ($given) = @_;
  my ($uid, $storage, $doorway, $image) = @$given{'uid', 'storage', 'doorway', 'image'};
  call('unshare', 0x20000) == 0 or die "cannot make a mount namespace: $!\n";
  call('mount', '/', '/', 0, 0x84000, 0) == 0 or die "cannot part from the mounts of the host: $!\n";
  my $is_disk = $storage->{kind} eq 'image';
  my $map = $is_disk || $image ? owner_namespace($uid, $given->{ids}, $given->{without}{'process-limit'} ? undef : $given->{processes}) : undef;
  # Held before anything covers the place where it is.
  my $below = $image ? mapped_tree($image->{root}, $map, 7) : undef;
  if ($is_disk) { mount_disk($storage, $doorway, $map) } else { own_folder($storage->{path}, $doorway, $given) }
  $image or return become_user($uid);
  place_tree($below, "$doorway/image");
  call('setns', fileno $map, 0x10000000) == 0 or die "cannot enter its user namespace: $!\n";
  become_user(0);
  call('unshare', 0x20000) == 0 or die "cannot make its mount namespace: $!\n";
}

sub mount_disk {
  my ($storage, $doorway, $map) = @_;
  copy_disk($storage->{template}, $storage->{path}) if defined $storage->{template};
  my ($device, $loop) = attach_disk($storage->{path});
  call('mount', $device, $doorway, 'ext4', 0x406, 'errors=remount-ro,discard,noinit_itable') == 0
    or die "cannot mount its disk: $!\n";
  my $tree = mapped_tree($doorway, $map, 0);
  call('umount2', $doorway, 2) == 0 or die "cannot move its disk: $!\n";
  place_tree($tree, $doorway);
}

# Shares the blocks where the file system can; otherwise holes stay holes.
sub copy_disk {
  my ($from, $to) = @_;
  open(my $source, '<', $from) && sysopen(my $target, $to, 0301, 0600) or die "cannot copy its disk: $!\n";
  return if defined ioctl $target, 0x40049409, fileno $source;
  my ($at, $end) = (0, 0);
  truncate $target, -s $source or die "cannot copy its disk: $!\n";
  while (defined($at = sysseek $source, $end, 3)) {
    $end = sysseek $source, $at, 4;
    sysseek($source, $at, 0) && sysseek($target, $at, 0) or die "cannot copy its disk: $!\n";
    while ($at < $end) {
      my $got = sysread $source, my $bytes, $end - $at < 1048576 ? $end - $at : 1048576;
      $got && syswrite($target, $bytes) == $got or die "cannot copy its disk: $!\n";
      $at += $got;
    }
  }
}

# Returns the device and a file of it: the device goes when nothing uses it.
sub attach_disk {
  my ($disk) = @_;
  open(my $file, '+<', $disk) or die "cannot open its disk: $!\n";
  for (my $left = 2000; !flock $file, 6; $left--) {
    $left or die "its disk is in use\n";
    select undef, undef, undef, 0.005;
  }
  open(my $control, '+<', '/dev/loop-control') or die "no loop devices: $!\n";
  for (1 .. 100) {
    my $number = ioctl $control, 0x4c82, 0;
    defined $number or die "no free loop device: $!\n";
    my $device = '/dev/loop' . ($number + 0);
    open(my $loop, '+<', $device) or die "cannot open $device: $!\n";
    my $config = pack('LL Q5 L4 x240', fileno $file, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4);
    return ($device, $loop) if defined ioctl $loop, 0x4c0a, $config;
    $! == 16 or die "cannot use $device: $!\n";
  }
  die "others take every loop device\n";
}

# A user namespace that maps ids from 0 on to the sandbox's, as an open file.
sub owner_namespace {
  my ($first, $ids, $processes) = @_;
  pipe(my $waits, my $lasts) && pipe(my $made, my $makes) or die "no pipe: $!\n";
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    close $_ for $lasts, $made;
    become_user($first);
    # So it counts the processes of all its users together.
    limit_resource(0, RLIMIT_NPROC, $processes) if defined $processes;
    call('unshare', 0x10000000) == 0 and syswrite $makes, 'x' and sysread $waits, my $nothing, 1;
    kill 9, $$;
  }
  close $_ for $waits, $makes;
  sysread $made, my $nothing, 1 or die "no user namespace\n";
  for my $map ('uid_map', 'gid_map') {
    open(my $file, '>', "/proc/$child/$map") or die "no $map: $!\n";
    syswrite $file, "0 $first $ids\n" or die "no $map: $!\n";
  }
  open(my $namespace, '<', "/proc/$child/ns/user") or die "no user namespace: $!\n";
  kill 9, $child;
  waitpid $child, 0;
  $namespace;
}

sub become_user {
  my ($id) = @_;
  $) = "$id $id"; # with no other groups
  call('setresgid', $id, $id, $id) == 0 && call('setresuid', $id, $id, $id) == 0 or die "cannot become uid $id: $!\n";
}

sub held_tree {
  my ($folder) = @_;
  my $tree = call('open_tree', AT_FDCWD, $folder, 0x80001);
  $tree >= 0 or die "cannot hold $folder: $!\n";
  $tree;
}
sub mapped_tree {
  my ($folder, $map, $flags) = @_;
  my $tree = held_tree($folder);
  my $attributes = pack 'QQQQ', 0x100000 | $flags, 0, 0, fileno $map;
  call('mount_setattr', $tree, '', 0x1000, $attributes, 32) == 0 or die "cannot map the ids of $folder: $!\n";
  $tree;
}
sub place_tree {
  my ($tree, $folder) = @_;
  call('move_mount', $tree, '', AT_FDCWD, $folder, 4) == 0 or die "cannot mount $folder: $!\n";
  open(my $moved, '<&=', $tree); # closes it
}
sub bind_folder {
  my ($from, $to) = @_;
  call('mount', $from, $to, 0, 0x1000, 0) == 0 or die "cannot mount its folder: $!\n";
}
# Files that Steward has just made as an ordinary user belong to that one.
sub own_folder {
  my ($folder, $doorway, $given) = @_;
  shift_owners($folder, @$given{'uid', 'ids'}) if defined $given->{users} && (lstat $folder)[4] != $given->{uid};
  bind_folder($folder, $doorway);
}
sub overlay_root {
  my ($doorway) = @_;
  my $layers = "lowerdir=$doorway/image,upperdir=$doorway/upper,workdir=$doorway/work,userxattr";
  call('mount', 'overlay', "$doorway/root", 'overlay', 0, $layers) == 0
    or die "cannot lay its files over those of its image: $!\n";
}

sub put_entry {
  my ($kind, $path, $value) = @_;
  $path =~ s{^/+}{};
  if ($kind eq 'folder') { mkdir $path and chmod oct $value, $path }
  elsif ($kind eq 'link') { symlink $value, $path }
  else {
    # Creates and writes only below the working folder (RESOLVE_IN_ROOT), and never waits for a reader.
    my $how = pack 'QQQ', O_WRONLY | O_CREAT | O_NONBLOCK, 0644, 0x10;
    my $number = call('openat2', AT_FDCWD, $path, $how, 24);
    return if $number < 0;
    open(my $file, '>&=', $number) or return;
    -f $file and truncate $file, 0 and syswrite $file, $value;
  }
}
