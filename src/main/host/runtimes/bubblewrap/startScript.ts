/**
 * Runs before bwrap, in its place: joins the sandbox's cgroups and closes whatever else Steward was started with. As
 * root it becomes the sandbox's own uid, which may be barred from the folders above the sandbox's: these are left out
 * by mounting the sandbox's folder elsewhere, in a mount namespace that only bwrap is in. What the host mounts or
 * unmounts later reaches this namespace, nothing in it reaches the host.
 *
 * Arguments: numbers of system calls, count of cgroup files (file descriptors 4…), uid (empty: keep it), folder, where
 * to mount it, then bwrap and its arguments.
 */
export const startScript = String.raw`
use strict;
my ($numbers, $cgroups, $uid, $folder, $doorway, @command) = @ARGV;
my ($unshare, $mount) = split /,/, $numbers;
for my $number (4 .. 3 + $cgroups) {
  open(my $file, '>&=', $number) or die "cannot join its cgroup: $!\n";
  syswrite($file, "0\n") or die "cannot join its cgroup: $!\n";
}
opendir(my $open, '/proc/self/fd') or die "cannot see its open files: $!\n";
for my $number (grep { /^\d+$/ && $_ > 3 } readdir $open) {
  open(my $file, '<&=', $number) or next;
  close $file;
}
if (length $uid) {
  my $root = '/';
  syscall($unshare, 0x20000) == 0 or die "cannot make a mount namespace: $!\n";
  syscall($mount, $root, $root, 0, 0x84000, 0) == 0 or die "cannot part from the mounts of the host: $!\n";
  syscall($mount, $folder, $doorway, 0, 0x1000, 0) == 0 or die "cannot mount its folder: $!\n";
  $) = "$uid $uid";
  $( = $uid;
  ($<, $>) = ($uid, $uid);
  $< == $uid && $> == $uid && $( == $uid or die "cannot become uid $uid: $!\n";
}
exec { $command[0] } @command;
die "cannot run $command[0]: $!\n";
`
