# Freezes a file system or locks a disk image until stdin ends, which also happens when Steward is killed. The options
# are `mode`, `path` and `folder`. Prints `held`, and exits with 0 after undoing everything.
#
# `freeze`: flushes and blocks all writes to the file system of the folder at `path`.
# `thaw`: undoes the freeze of a killed helper.
# `lock`: waits until the image at `path` is not mounted, and prevents mounting.
# `abandon`: shuts down the file system of the folder at `path`; nothing is written any more.
# `release`: thaws the file system of the loop device at `path`, mounted on `folder` for this process only.
my $options = read_options();
my ($mode, $path, $folder) = @$options{'mode', 'path', 'folder'};
my ($freeze, $thaw, $patienceSeconds) = (0xc0045877, 0xc0045878, 20);
$0 = "steward $mode";
$SIG{$_} = 'IGNORE' for 'INT', 'TERM', 'HUP', 'PIPE';
sub wait_for_end { syswrite STDOUT, "held\n"; 1 while sysread STDIN, my $discarded, 64 }
if ($mode eq 'lock') {
  open(my $file, '<', $path) or die "cannot open the disk: $!\n";
  for (my $tries = $patienceSeconds * 200; !flock $file, 6; $tries--) {
    $tries or die "the disk is in use\n";
    select undef, undef, undef, 0.005;
  }
  wait_for_end();
  exit 0;
}
if ($mode eq 'release') {
  call('unshare', 0x20000) == 0 or die "cannot create a mount namespace: $!\n";
  call('mount', '/', '/', 0, 0x84000, 0) == 0 or die "cannot detach from the mounts of the host: $!\n";
  call('mount', $path, $folder, 'ext4', 0x406, 0) == 0 or die "cannot mount $path: $!\n";
  $path = $folder;
}
open(my $disk, '<', $path) or die "cannot open the disk: $!\n";
if ($mode eq 'abandon') {
  my $without_log = pack 'L', 2;
  defined ioctl $disk, 0x8004587d, $without_log or die "cannot abandon the disk: $!\n";
  exit 0;
}
if ($mode eq 'freeze') {
  defined ioctl $disk, $freeze, 0 or die "cannot freeze the disk: $!\n";
  wait_for_end();
}
defined ioctl $disk, $thaw, 0 or $! == 22 or die "cannot thaw the disk: $!\n";
