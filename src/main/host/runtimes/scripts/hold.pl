# Holds a file system or a disk image still until its stdin ends, which it also does when Steward is killed. Given are
# `mode`, `path` and `folder`; it prints `held`, then ends with 0 when all is undone.
#
# `freeze`: nothing is written to the file system of the folder at the path, and what was written is on its disk.
# `thaw`: ends what a killed helper left.
# `lock`: waits until the image at the path is not mounted; it is not meanwhile.
# `abandon`: nothing more is written to the file system of the folder at the path, ever.
# `release`: thaws the file system of the loop device at the path, mounted on the folder for this process alone.
my $given = given();
my ($mode, $path, $folder) = @$given{'mode', 'path', 'folder'};
my ($freeze, $thaw, $patienceSeconds) = (0xc0045877, 0xc0045878, 20);
$0 = "steward $mode";
$SIG{$_} = 'IGNORE' for 'INT', 'TERM', 'HUP', 'PIPE';
sub wait_ { syswrite STDOUT, "held\n"; 1 while sysread STDIN, my $nothing, 64 }
if ($mode eq 'lock') {
  open(my $file, '<', $path) or die "cannot open the disk: $!\n";
  for (my $left = $patienceSeconds * 200; !flock $file, 6; $left--) {
    $left or die "the disk is in use\n";
    select undef, undef, undef, 0.005;
  }
  wait_();
  exit 0;
}
if ($mode eq 'release') {
  call('unshare', 0x20000) == 0 or die "no mount namespace: $!\n";
  call('mount', '/', '/', 0, 0x84000, 0) == 0 or die "cannot part from the mounts of the host: $!\n";
  call('mount', $path, $folder, 'ext4', 0x406, 0) == 0 or die "cannot mount $path: $!\n";
  $path = $folder;
}
open(my $held, '<', $path) or die "cannot open the disk: $!\n";
if ($mode eq 'abandon') {
  my $without_log = pack 'L', 2;
  defined ioctl $held, 0x8004587d, $without_log or die "cannot abandon the disk: $!\n";
  exit 0;
}
if ($mode eq 'freeze') {
  defined ioctl $held, $freeze, 0 or die "cannot hold the disk still: $!\n";
  wait_();
}
defined ioctl $held, $thaw, 0 or $! == 22 or die "cannot let go of the disk: $!\n";
