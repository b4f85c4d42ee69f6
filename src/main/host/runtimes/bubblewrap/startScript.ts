import { perlPart } from '../perlScript.ts'
import type { BaseEntry } from './baseFiles.ts'
import type { IdRange } from './images/idRange.ts'
import type { MachineStorage } from './machineFolder.ts'
import { systemCalls } from './systemCalls.ts'

/**
 * Runs before bwrap, in its place: joins the sandbox's cgroups and closes whatever else Steward was started with. As
 * root it becomes the sandbox's own uid, which may be barred from the folders above the sandbox's: these are left out
 * by mounting the sandbox's content elsewhere, in a mount namespace that only bwrap is in. What the host mounts or
 * unmounts later reaches this namespace, nothing in it reaches the host.
 *
 * A disk image is mounted by a loop device that goes away with the namespace. Its lock goes with the device: the same
 * file system is never mounted twice. In it the sandbox's root is uid 0, whatever its uid on the host: the mount maps
 * the one to the other.
 *
 * Entries are put by the sandbox's uid and without leaving its `/`, whatever links the sandbox has left there.
 *
 * A machine of an image has a user namespace with a range of ids, in which its `/` is mounted: an overlay of the image,
 * which nothing changes, and of what the machine has changed itself.
 *
 * Arguments: numbers of system calls, count of cgroup files (file descriptors 4…), uid (empty: keep it), count of its
 * ids, kind and path of the storage, template (empty: none), where to mount it, root of the image (empty: none), six
 * arguments of `enter_range` for an ordinary user, count of entries, three arguments for each, then bwrap and its
 * arguments.
 */
export const startScript = String.raw`
${perlPart('shared')}${perlPart('range')}
# line 1 "startScript"
my ($numbers, $cgroups, $uid, $ids, $kind, $storage, $template, $doorway, $image, @command) = @ARGV;
my @range = splice @command, 0, 6;
my @entries = map { [splice @command, 0, 3] } 1 .. shift @command;
my ($unshare, $mount, $umount, $setns) = split /,/, $numbers;
my ($open_tree, $move_mount, $openat2, $mount_setattr) = (428, 429, 437, 442);
my ($empty, $here) = ('', -100);
for my $number (4 .. 3 + $cgroups) {
  open(my $file, '>&=', $number) or die "cannot join its cgroup: $!\n";
  syswrite($file, "0\n") or die "cannot join its cgroup: $!\n";
}
opendir(my $open, '/proc/self/fd') or die "cannot see its open files: $!\n";
for my $number (grep { /^\d+$/ && $_ > 3 } readdir $open) {
  open(my $file, '<&=', $number) or next;
  close $file;
}

sub copy {
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

sub attach {
  my ($image) = @_;
  open(my $file, '+<', $image) or die "cannot open its disk: $!\n";
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

sub become {
  my ($id) = @_;
  $) = "$id $id";
  $( = $id;
  ($<, $>) = ($id, $id);
  $< == $id && $> == $id && $( == $id or die "cannot become uid $id: $!\n";
}

sub owner {
  my ($first) = @_;
  pipe(my $waits, my $lasts) && pipe(my $made, my $makes) or die "no pipe: $!\n";
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    close $_ for $lasts, $made;
    become($first);
    syscall($unshare, 0x10000000) == 0 and syswrite $makes, 'x' and sysread $waits, my $nothing, 1;
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

sub held {
  my ($folder) = @_;
  my $tree = syscall $open_tree, $here, $folder, 0x80001;
  $tree >= 0 or die "cannot hold $folder: $!\n";
  $tree;
}
sub mapped {
  my ($folder, $map, $flags) = @_;
  my $tree = held($folder);
  my $attributes = pack 'QQQQ', 0x100000 | $flags, 0, 0, fileno $map;
  syscall($mount_setattr, $tree, $empty, 0x1000, $attributes, 32) == 0 or die "cannot map the ids of $folder: $!\n";
  $tree;
}
sub place {
  my ($tree, $folder) = @_;
  syscall($move_mount, $tree, $empty, $here, $folder, 4) == 0 or die "cannot mount $folder: $!\n";
  open(my $moved, '<&=', $tree);
}
sub bind_ {
  my ($from, $to) = @_;
  syscall($mount, $from, $to, 0, 0x1000, 0) == 0 or die "cannot mount its folder: $!\n";
}
sub overlay {
  my ($type, $root) = ('overlay', "$doorway/root");
  my $layers = "lowerdir=$doorway/image,upperdir=$doorway/upper,workdir=$doorway/work,userxattr";
  syscall($mount, $type, $root, $type, 0, $layers) == 0 or die "cannot lay its files over those of its image: $!\n";
}

sub put {
  my ($kind, $path, $value) = @_;
  $path =~ s{^/+}{};
  if ($kind eq 'folder') { mkdir $path and chmod oct $value, $path }
  elsif ($kind eq 'link') { symlink $value, $path }
  else {
    my $how = pack 'QQQ', 0101 | 04000, 0644, 0x10;
    my $number = syscall $openat2, $here, $path, $how, 24;
    return if $number < 0;
    open(my $file, '>&=', $number) or return;
    -f $file and truncate $file, 0 and syswrite $file, $value;
  }
}

if (length $uid) {
  my $root = '/';
  syscall($unshare, 0x20000) == 0 or die "cannot make a mount namespace: $!\n";
  syscall($mount, $root, $root, 0, 0x84000, 0) == 0 or die "cannot part from the mounts of the host: $!\n";
  my $map = $kind eq 'image' || length $image ? owner($uid) : undef;
  # Held before anything covers the place where it is.
  my $below = length $image ? mapped($image, $map, 7) : undef;
  if ($kind eq 'image') {
    copy($template, $storage) if length $template;
    my ($device, $loop) = attach($storage);
    my ($type, $options) = ('ext4', 'errors=remount-ro,discard,noinit_itable');
    syscall($mount, $device, $doorway, $type, 0x406, $options) == 0 or die "cannot mount its disk: $!\n";
    my $tree = mapped($doorway, $map, 0);
    syscall($umount, $doorway, 2) == 0 or die "cannot move its disk: $!\n";
    place($tree, $doorway);
  } else {
    bind_($storage, $doorway);
  }
  if (length $image) {
    place($below, "$doorway/image");
    syscall($setns, fileno $map, 0x10000000) == 0 or die "cannot enter its user namespace: $!\n";
    become(0);
    syscall($unshare, 0x20000) == 0 or die "cannot make its mount namespace: $!\n";
    close $map;
  } else {
    become($uid);
  }
} elsif (length $image) {
  $system_calls{unshare} = $unshare;
  enter_range({ uids => $range[2], gids => $range[3], length $range[4] ? (mappers => { newuidmap => $range[4], newgidmap => $range[5] }) : () }, $range[1]);
  my $below = held($image);
  bind_($storage, $doorway);
  place($below, "$doorway/image");
}
overlay() if length $image;
umask 022;
chdir((length $uid || length $image ? $doorway : $storage) . '/root') and map { put(@$_) } @entries;
chdir '/';
exec { $command[0] } @command;
die "cannot run $command[0]: $!\n";
`

const mountNamespace = String(0x20000)

export function startArguments(start: {
  cgroups: number
  uid: number | undefined
  ids: number
  storage: MachineStorage
  doorway: string
  /** The files of the image; undefined for the base that the host gives. */
  image?: { root: string; range: IdRange } | undefined
  entries: readonly BaseEntry[]
}): string[] {
  const { storage, entries, image } = start
  const template = storage.kind === 'image' ? (storage.template ?? '') : ''
  return [
    systemCalls()?.start ?? '',
    String(start.cgroups),
    String(start.uid ?? ''),
    String(start.ids),
    ...[storage.kind, storage.path, template],
    start.doorway,
    ...(image ? [image.root, ...rangeArguments(image.range)] : Array<string>(7).fill('')),
    String(entries.length),
    ...entries.flatMap((entry) => [entry.kind, entry.path, thirdOf(entry)]),
  ]
}

function thirdOf(entry: BaseEntry): string {
  if (entry.kind === 'folder') return entry.mode.toString(8)
  return entry.kind === 'link' ? entry.target : String(entry.content)
}

function rangeArguments({ uids, gids, mappers }: IdRange): string[] {
  return ['', mountNamespace, uids, gids, mappers?.newuidmap ?? '', mappers?.newgidmap ?? '']
}
