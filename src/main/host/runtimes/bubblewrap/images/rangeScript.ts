import { systemCalls } from '../systemCalls.ts'
import type { IdRange } from './idRange.ts'

/**
 * Enters a new user namespace with a range of ids, as its root. Whoever stays outside writes the maps: root itself, or
 * for an ordinary user the programs that the administrator has allowed to.
 *
 * `enter_range(UNSHARE, FLAGS, UIDS, GIDS, NEWUIDMAP, NEWGIDMAP)`, where the programs are empty for root.
 */
export const enterRange = String.raw`
sub enter_range {
  my ($unshare, $flags, $uids, $gids, @mappers) = @_;
  my $target = $$;
  pipe(my $waits, my $goes) or die "no pipe: $!\n";
  my $mapper = fork;
  defined $mapper or die "no process: $!\n";
  if (!$mapper) {
    close $goes;
    sysread $waits, my $nothing, 1 or exit 1;
    for my $map (['uid_map', $uids, $mappers[0]], ['gid_map', $gids, $mappers[1]]) {
      my ($name, $ids, $program) = @$map;
      if (length $program) { system({ $program } $program, $target, split / /, $ids) == 0 or exit 1 }
      else {
        open(my $file, '>', "/proc/$target/$name") or exit 1;
        syswrite $file, "$ids\n" or exit 1;
      }
    }
    exit 0;
  }
  close $waits;
  syscall($unshare, $flags | 0x10000000) == 0 or die "no user namespace: $!\n";
  syswrite $goes, 'x';
  waitpid $mapper, 0;
  $? == 0 or die "its users could not be mapped\n";
  $) = '0 0';
  $( = 0;
  ($<, $>) = (0, 0);
  $< == 0 && $> == 0 && $( == 0 or die "cannot become root of its namespace: $!\n";
}
`

/** Runs a command as root of a range: for files that belong to others than the user that Steward runs as. */
export const rangeScript = String.raw`
use strict;
${enterRange}
enter_range(splice(@ARGV, 0, 6));
exec { $ARGV[0] } @ARGV;
die "cannot run $ARGV[0]: $!\n";
`

const noFlags = '0'

/** The first arguments of `enter_range`, for scripts that get them from outside. */
export function rangeArguments({ uids, gids, mappers }: IdRange, flags = noFlags): string[] {
  const [unshare = ''] = systemCalls()?.start.split(',') ?? []
  return [unshare, flags, uids, gids, mappers?.newuidmap ?? '', mappers?.newgidmap ?? '']
}
