# Executes bwrap, which becomes a sandbox. `launch(\%options)` runs in a separate process; it dies with a sentence, or
# does not return. Options:
#
# `cgroups`: files that move a process which writes 0 into the cgroups of the sandbox.
# `uid` and `ids`: user id of the sandbox's root, and the number of ids. As root, a user of the host. For an ordinary
# user with subordinate ids, a user of the joined namespace, in which this process is root as well.
# `storage`: `kind` (`folder` or `image`), `path`, and `template`, which is copied to the path first.
# `doorway`: mount point of the content of the sandbox, visible to bwrap only.
# `image`: `root` and `range` of an image. `entries`: content of its `/`: kind, path, value.
# `files`: pairs of a descriptor and the hexadecimal content that bwrap reads from it.
# `outer_filter`: a seccomp program in hexadecimal. `command`: bwrap and its arguments.
#
# As root, the process becomes the sandbox's uid, which may have no access to the parent folders. Therefore the
# content is mounted elsewhere, in a mount namespace that only bwrap is in. Later mounts of the host reach this
# namespace; its mounts do not reach the host.
#
# A disk image is mounted through a loop device that disappears with the namespace. The lock of the image belongs to
# the device: the same file system is never mounted twice. Inside, the root of the sandbox is uid 0, whatever its uid
# on the host: the mount maps one to the other.
#
# Entries are written with the uid of the sandbox and never outside its `/`, whatever links it contains.
#
# A sandbox of an image has a user namespace with a range of ids, in which its `/` is mounted: an overlay of the
# read-only image and the changes of the sandbox.
sub launch {
  my ($options) = @_;
  my ($uid, $storage, $doorway, $image) = @$options{'uid', 'storage', 'doorway', 'image'};
  join_cgroups(@{$options->{cgroups}});
  if (defined $uid) { mount_as_root($options) }
  elsif ($image) {
    my $processes = $options->{without}{'process-limit'} ? undef : $options->{processes};
    enter_range($image->{range}, 0x20000, defined $processes ? sub { limit_resource(0, RLIMIT_NPROC, $processes) } : undef);
    my $lower = clone_tree($image->{root});
    bind_folder($storage->{path}, $doorway);
    place_tree($lower, "$doorway/image");
  }
  mount_overlay($doorway) if $image;
  umask 022;
  chdir((defined $uid || $image ? $doorway : $storage->{path}) . '/root') and map { put_entry(@$_) } @{$options->{entries}};
  chdir '/';
  limit_calls($options->{outer_filter}) if defined $options->{outer_filter};
  hand_over(@$_) for @{$options->{files}};
  my @command = @{$options->{command}};
  exec { $command[0] } @command;
  die "cannot run $command[0]: $!\n";
}

sub join_cgroups {
  for my $path (@_) {
    open(my $file, '>', $path) or die "cannot join its cgroup: $!\n";
    syswrite($file, "0\n") or die "cannot join its cgroup: $!\n";
  }
}

# Installs a system call filter for this process and its children.
sub limit_calls {
  my $program = pack 'H*', $_[0];
  my $list = pack 'S x![P] P', length($program) / 8, $program;
  call('prctl', 38, 1, 0, 0, 0) == 0 && call('seccomp', 1, 4, $list) == 0 or die "cannot limit its system calls: $!\n";
}

my @inherited_files;
# Passes content to the next executed program on the descriptor.
sub hand_over {
  my ($descriptor, $content) = @_;
  my $name = 'steward';
  my $file = call('memfd_create', $name, 0);
  $file >= 0 or die "no memory file: $!\n";
  open(my $memory, '+<&=', $file) or die "no memory file: $!\n";
  send_all($memory, pack 'H*', $content) or die "cannot fill a memory file: $!\n";
  sysseek $memory, 0, 0;
  push @inherited_files, hand_over_file($memory, $descriptor);
}
# Passes a file on the descriptor. Returns the files that must stay open until the exec.
sub hand_over_file {
  my ($file, $descriptor) = @_;
  if (fileno $file == $descriptor) { fcntl($file, 2, 0); return $file }
  call('dup3', fileno $file, $descriptor, 0) >= 0 or die "no descriptor $descriptor: $!\n";
  ();
}

sub mount_as_root {
  my ($options) = @_;
  my ($uid, $storage, $doorway, $image) = @$options{'uid', 'storage', 'doorway', 'image'};
  call('unshare', 0x20000) == 0 or die "cannot create a mount namespace: $!\n";
  call('mount', '/', '/', 0, 0x84000, 0) == 0 or die "cannot detach from the mounts of the host: $!\n";
  my $is_disk = $storage->{kind} eq 'image';
  my $map = $is_disk || $image ? create_owner_namespace($uid, $options->{ids}, $options->{without}{'process-limit'} ? undef : $options->{processes}) : undef;
  # Cloned before a mount covers its path.
  my $lower = $image ? clone_mapped_tree($image->{root}, $map, 7) : undef;
  if ($is_disk) { mount_disk($storage, $doorway, $map) } else { mount_folder($storage->{path}, $doorway, $options) }
  $image or return become_user($uid);
  place_tree($lower, "$doorway/image");
  call('setns', fileno $map, 0x10000000) == 0 or die "cannot enter its user namespace: $!\n";
  become_user(0);
  call('unshare', 0x20000) == 0 or die "cannot create the mount namespace: $!\n";
}

sub mount_disk {
  my ($storage, $doorway, $map) = @_;
  copy_disk($storage->{template}, $storage->{path}) if defined $storage->{template};
  my ($device, $loop) = attach_disk($storage->{path});
  call('mount', $device, $doorway, 'ext4', 0x406, 'errors=remount-ro,discard,noinit_itable') == 0
    or die "cannot mount its disk: $!\n";
  my $tree = clone_mapped_tree($doorway, $map, 0);
  call('umount2', $doorway, 2) == 0 or die "cannot move its disk: $!\n";
  place_tree($tree, $doorway);
}

# Copies a disk with reflinks if the file system supports them, otherwise as a sparse file.
sub copy_disk {
  my ($from, $to) = @_;
  open(my $source, '<', $from) && sysopen(my $target, $to, 0301, 0600) or die "cannot copy its disk: $!\n";
  return if defined ioctl $target, 0x40049409, fileno $source;
  my ($offset, $end) = (0, 0);
  truncate $target, -s $source or die "cannot copy its disk: $!\n";
  while (defined($offset = sysseek $source, $end, 3)) {
    $end = sysseek $source, $offset, 4;
    sysseek($source, $offset, 0) && sysseek($target, $offset, 0) or die "cannot copy its disk: $!\n";
    while ($offset < $end) {
      my $bytes_read = sysread $source, my $bytes, $end - $offset < 1048576 ? $end - $offset : 1048576;
      $bytes_read && syswrite($target, $bytes) == $bytes_read or die "cannot copy its disk: $!\n";
      $offset += $bytes_read;
    }
  }
}

# Returns the path and an open file of a loop device that detaches on its last close.
sub attach_disk {
  my ($disk) = @_;
  open(my $file, '+<', $disk) or die "cannot open its disk: $!\n";
  for (my $tries = 2000; !flock $file, 6; $tries--) {
    $tries or die "its disk is in use\n";
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
  die "no loop device is available\n";
}

# Returns an open user namespace that maps ids from 0 to those of the sandbox.
sub create_owner_namespace {
  my ($first, $ids, $processes) = @_;
  pipe(my $end_reader, my $end_writer) && pipe(my $ready_reader, my $ready_writer) or die "no pipe: $!\n";
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    close $_ for $end_writer, $ready_reader;
    become_user($first);
    # The limit applies to the processes of all its users together.
    limit_resource(0, RLIMIT_NPROC, $processes) if defined $processes;
    call('unshare', 0x10000000) == 0 and syswrite $ready_writer, 'x' and sysread $end_reader, my $discarded, 1;
    kill 9, $$;
  }
  close $_ for $end_reader, $ready_writer;
  sysread $ready_reader, my $discarded, 1 or die "no user namespace\n";
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
  $) = "$id $id"; # no supplementary groups
  call('setresgid', $id, $id, $id) == 0 && call('setresuid', $id, $id, $id) == 0 or die "cannot become uid $id: $!\n";
}

sub clone_tree {
  my ($folder) = @_;
  my $tree = call('open_tree', AT_FDCWD, $folder, 0x80001);
  $tree >= 0 or die "cannot clone the mount of $folder: $!\n";
  $tree;
}
sub clone_mapped_tree {
  my ($folder, $map, $flags) = @_;
  my $tree = clone_tree($folder);
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
# Mounts a folder of the sandbox. Changes its owner first if Steward created it as an ordinary user.
sub mount_folder {
  my ($folder, $doorway, $options) = @_;
  shift_owners($folder, @$options{'uid', 'ids'}) if defined $options->{users} && (lstat $folder)[4] != $options->{uid};
  bind_folder($folder, $doorway);
}
sub mount_overlay {
  my ($doorway) = @_;
  my $layers = "lowerdir=$doorway/image,upperdir=$doorway/upper,workdir=$doorway/work,userxattr";
  call('mount', 'overlay', "$doorway/root", 'overlay', 0, $layers) == 0
    or die "cannot mount the overlay of the image: $!\n";
}

sub put_entry {
  my ($kind, $path, $value) = @_;
  $path =~ s{^/+}{};
  if ($kind eq 'folder') { mkdir $path and chmod oct $value, $path }
  elsif ($kind eq 'link') { symlink $value, $path }
  else {
    # Creates and writes only below the working folder (RESOLVE_IN_ROOT), and never waits for a reader.
    my $open_how = pack 'QQQ', O_WRONLY | O_CREAT | O_NONBLOCK, 0644, 0x10;
    my $number = call('openat2', AT_FDCWD, $path, $open_how, 24);
    return if $number < 0;
    open(my $file, '>&=', $number) or return;
    -f $file and truncate $file, 0 and syswrite $file, $value;
  }
}
