import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { systemCalls } from '../systemCalls.ts'
import { idsOfImage } from './idRange.ts'

/** Arguments: number of fchownat, folder, first uid of the new range, count. */
const script = String.raw`
use strict;
my ($fchownat, $top, $first, $count) = @ARGV;
my $before = (lstat $top)[4];
my %done;
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
  syscall($fchownat, -100, $path, $first + $user, $first + $group, 0x100) == 0 or die "cannot give away $path: $!\n";
  next if ($mode & 0170000) == 0120000 || !($mode & 06000);
  chmod $mode & 07777, $path or die "cannot change $path: $!\n";
}
`
const shiftMs = 600_000

/** Gives the files of a machine of an image to the range of another: root's to the first of it, and so on. */
export async function shiftOwners(folder: string, first: number): Promise<void> {
  const parts = [systemCalls()?.fchownat ?? '', folder, String(first), String(idsOfImage)]
  await promisify(execFile)('perl', ['-e', script, ...parts], { cwd: '/', timeout: shiftMs })
}
