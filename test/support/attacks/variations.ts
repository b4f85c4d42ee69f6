import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SnapshotId } from '#shared/ids.ts'
import { never } from '../fixtures/sandboxSpecs.ts'
import { preload, type Stage, type Target } from './stage.ts'

/** Restores and forks a snapshot whose files attack as soon as a program runs on them. @returns what ran in PID 1 */
export async function hostileSnapshot(stage: Stage): Promise<{ restored: string; fork: string; restoredRuns: string }> {
  const target = await stage.make()
  await preload(target, 'preload')
  const snapshot = { sandboxId: target.spec.id, snapshotId: SnapshotId.parse(`snap_${'0'.repeat(24)}`) }
  await stage.runtime.snapshot(snapshot, never, target.machine())
  await target.machine().stop()
  await stage.runtime.restore(snapshot, never)
  const refused = await target.restart()
  const restored = refused ?? (await inPid1(target))
  const fork = await stage.make({ hostname: 'fork' }, snapshot)
  return { restored, fork: await inPid1(fork), restoredRuns: await target.said('echo it runs') }
}

const inPid1 = (target: Target): Promise<string> => target.said('cat /root/in-pid1 2>/dev/null; true')

/**
 * Paths that a sandbox may replace with links to the host. `/etc` has a separate run, because nothing starts without
 * it.
 */
const swaps = {
  'all but /etc': [
    ...['/usr', '/usr/local', '/dev', '/proc', '/run', '/root', '/tmp', '/var', '/home', '/bin', '/lib64'],
    ...['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/etc/passwd', '/etc/mtab'],
  ],
  '/etc': ['/etc'],
}

export type Swap = { what: string; refused: string | null; said: string; changed: string[] }

/** Replaces folders and files of a sandbox with links to the host. @returns the changes on the host after a restart */
export async function swapFolders(stage: Stage): Promise<Swap[]> {
  const outside = join(stage.folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'file'), 'of the host')
  const seen: Swap[] = []
  for (const [name, paths] of Object.entries(swaps)) {
    for (const before of ['', '/proc/1/root', '/../../../../../..']) {
      const target = await stage.make()
      for (const path of paths) {
        const to = `${before}${outside}${/^\/etc\//.test(path) ? '/file' : ''}`
        // Mount points cannot be moved from inside, so these attempts fail.
        await target.said(`cd /; mv -T ${path} ${path}-before; ln -sfn ${to} ${path}; true`).catch(() => '')
      }
      const refused = await target.restart()
      const said = refused === null ? await target.machine().listFiles('/', never).then(String, String) : ''
      seen.push({ what: `${name} -> ${before}${outside}`, refused, said, changed: changesOutside(outside) })
    }
  }
  return seen
}

function changesOutside(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name !== 'file')
  const content = readFileSync(join(folder, 'file'), 'utf8')
  return content === 'of the host' ? names : [...names, `file: ${content.slice(0, 100)}`]
}

const mark = 'left-by-the-one-before'
const folders = '/root /tmp /var/tmp /dev/shm /run /etc /home /opt /srv /mnt /media /var /usr/local /dev/mqueue'
const leaveMarks = [
  `for place in ${folders}; do echo ${mark} > $place/${mark} 2>/dev/null; done`,
  `(exec -a ${mark} sleep 1000 >/dev/null 2>&1 &)`,
  `perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Local => "\\0${mark}", Listen => 1) or die; fork and exit; sleep 1000' >/dev/null 2>&1`,
  // Creates a System V shared memory segment and a key.
  `perl -e 'my $id = shmget(0x5354, 4096, 01666); shmwrite($id, "${mark}", 0, ${mark.length})'`,
  `perl -e 'my ($kind, $name) = ("user", "${mark}"); syscall(248, $kind, $name, $name, length $name, $_) for -3, -4, -5'`,
].join('\n')
/** Avoids matching the searching process itself. */
const pattern = 'left-by-the-one-befor[e]'
const look = [
  `find / -xdev -name '*${pattern}*' 2>/dev/null`,
  `for place in ${folders}; do find $place -name '*${pattern}*' 2>/dev/null; done`,
  `grep -rl '${pattern}' ${folders} 2>/dev/null`,
  `grep -al '${pattern}' /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/keys /proc/net/unix 2>/dev/null`,
  `perl -e 'my $id = shmget(0x5354, 4096, 0) // exit; shmread($id, my $text, 0, ${mark.length}); print "memory: $text\\n"'`,
].join('\n')

export type Neighbour = { found: string; hostname: string; environment: string; cgroup: string; keys: string }

type Inheritance = { id: string; itself: Neighbour; beside: Neighbour; after: Neighbour }

/** Lists traces of an earlier sandbox that the next one sees, while the earlier one runs and after its removal. */
export async function observeInheritance(stage: Stage): Promise<Inheritance> {
  const first = await stage.make({ hostname: mark })
  await first.said(leaveMarks)
  const itself = await observeNeighbour(first)
  const beside = await observeNeighbour(await stage.make())
  await first.machine().stop('discard')
  await stage.runtime.remove(first.spec.id)
  const after = await stage.make()
  return { id: first.spec.id, itself, beside, after: await observeNeighbour(after) }
}

async function observeNeighbour(target: Target): Promise<Neighbour> {
  return {
    found: await target.said(`{ ${look}\n} | sort -u; true`),
    hostname: await target.said('hostname; cat /etc/hostname /etc/hosts'),
    environment: await target.said('env; cat /proc/1/environ | tr "\\0" "\\n"'),
    cgroup: await target.said('cat /proc/self/cgroup /proc/1/cgroup'),
    keys: await target.said('cat /proc/keys'),
  }
}
