import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Machine, SandboxRuntime, SnapshotPlace } from '#host/runtimes/sandboxRuntime.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { type SandboxId, SnapshotId } from '#shared/ids.ts'
import { until } from '../support/eventually.ts'
import { expectAppError, machineSpec, never, run } from '../support/machines.ts'

/** What every runtime must do with snapshots. */
export function snapshotsContract(
  under: () => { runtime: SandboxRuntime; image: ImageName | null; fillsHoles?: boolean | undefined },
  spec: Partial<MachineSpec> = {},
): void {
  describe('snapshots', () => {
    const runtimeUnderTest = () => under().runtime
    const specOf = (changes: Partial<MachineSpec> = {}) => machineSpec({ image: under().image, ...changes })
    const place = (sandboxId: SandboxId): SnapshotPlace => ({
      sandboxId,
      snapshotId: SnapshotId.parse(`snap_${randomBytes(12).toString('hex')}`),
    })
    const removed = async (...machines: Machine[]): Promise<void> => {
      for (const machine of machines) {
        await machine.stop()
        await runtimeUnderTest().remove(machine.id)
      }
    }

    test('keep the files of a running machine as at one moment, for a copy and for itself', async () => {
      const runtime = runtimeUnderTest()
      const own = specOf({ hostname: 'source', ...spec })
      const source = await runtime.create(own, never)
      await run(source, `${special}; echo first > /root/kept; (${writer}) >/dev/null 2>&1 &`)
      await written(source, 20)
      const snapshot = place(own.id)
      expect(await runtime.snapshot(snapshot, never)).toBeGreaterThan(0)
      await written(source, (await counts(source)).behind + 20)
      await run(source, 'echo second > /root/kept; rm -r /root/closed')

      const fork = await runtime.create(specOf({ hostname: 'fork', ...spec }), never, snapshot)
      const kept = await counts(fork)
      expect(kept.ahead - kept.behind).toBeLessThanOrEqual(1)
      expect(await run(fork, 'cat /root/kept; hostname; echo $(cat /etc/hostname); pgrep -c perl || true')).toBe(
        'first\nfork\nfork\n0\n',
      )
      expect(await run(fork, listSpecial)).toBe(specialListed(under().fillsHoles))
      await run(fork, 'echo forked > /root/kept')
      expect(await run(source, 'cat /root/kept')).toBe('second\n')

      await source.stop()
      await runtime.restore(snapshot, never)
      const restored = await runtime.start(own, never)
      expect(await counts(restored)).toEqual(kept)
      expect(await run(restored, 'cat /root/kept; hostname')).toBe('first\nsource\n')
      expect(await run(restored, listSpecial)).toBe(specialListed(under().fillsHoles))
      await run(restored, 'echo third > /root/kept')

      await restored.stop()
      await runtime.restore(snapshot, never)
      const again = await runtime.start(own, never)
      expect(await run(again, 'cat /root/kept')).toBe('first\n')
      expect(await run(fork, 'cat /root/kept')).toBe('forked\n')
      await removed(again, fork)
    })

    test('are kept of a stopped machine, and gone once removed', async () => {
      const runtime = runtimeUnderTest()
      const own = specOf(spec)
      const machine = await runtime.create(own, never)
      await run(machine, 'echo stopped > /root/kept')
      await machine.stop()
      const snapshot = place(own.id)
      await runtime.snapshot(snapshot, never)
      const fork = await runtime.create(specOf(spec), never, snapshot)
      expect(await run(fork, 'cat /root/kept')).toBe('stopped\n')
      await runtime.removeSnapshot(snapshot)
      await runtime.removeSnapshot(snapshot)
      await expectAppError('snapshot/not-found', runtime.restore(snapshot, never))
      const another = specOf(spec)
      await expectAppError('snapshot/not-found', runtime.create(another, never, snapshot))
      expect(await runtime.stored()).not.toContain(another.id)
      await removed(fork, machine)
    })

    test('are refused where they cannot be, and change nothing', async () => {
      const runtime = runtimeUnderTest()
      const own = specOf(spec)
      const machine = await runtime.create(own, never)
      const snapshot = place(own.id)
      await expect(runtime.snapshot(snapshot, AbortSignal.abort(new Error('called off')))).rejects.toThrow('called off')
      await run(machine, 'echo alive > /root/kept')
      await runtime.snapshot(snapshot, never)
      await expectAppError('sandbox/busy', runtime.restore(snapshot, never))
      await expectAppError('sandbox/not-found', runtime.snapshot(place(specOf().id), never))
      await machine.stop()
      await expectAppError('snapshot/not-found', runtime.restore(place(own.id), never))
      await expect(runtime.restore(snapshot, AbortSignal.abort(new Error('called off')))).rejects.toThrow('called off')
      const same = await runtime.start(own, never)
      expect(await run(same, 'cat /root/kept')).toBe('alive\n')
      await removed(same)
      await expectAppError('snapshot/not-found', runtime.create(specOf(spec), never, snapshot))
    })
  })
}

/** Each number is on the disk in one file before it is written to the other. */
const writer = `perl -MIO::Handle -e '
  open my $first, ">", "/root/first"; open my $second, ">", "/root/second";
  for my $number (1 .. 1e9) { for ($first, $second) { syswrite $_, "$number\\n"; $_->sync } }'`

async function written(machine: Machine, least: number): Promise<void> {
  await until('it to have written', async () => (await counts(machine)).behind >= least)
}

/** How far both files go; fails when a number is missing. */
async function counts(machine: Machine): Promise<{ ahead: number; behind: number }> {
  const counted = async (name: string): Promise<number> => {
    const numbers = (await run(machine, `touch ${name}; cat ${name}`)).split('\n').slice(0, -1).map(Number)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    return numbers.length
  }
  const behind = await counted('/root/second')
  return { behind, ahead: await counted('/root/first') }
}

/** Files that are easily lost or changed by a copy. */
const special = [
  'mkdir -p /root/closed/inner /usr/local/lib/own && echo secret > /root/closed/inner/file',
  'chmod 0 /root/closed/inner/file /root/closed/inner /root/closed',
  'ln -s /nowhere /root/link && mkfifo /root/fifo && echo two > /root/one && ln /root/one /root/other',
  'chmod 4751 /root/one && touch -d 2001-02-03T04:05:06Z /usr/local/lib/own && truncate -s 5000000 /root/sparse',
].join(' && ')
const listSpecial = [
  'stat -c "%a %u %F" /root/closed /root/link /root/fifo /root/one',
  'cat /root/closed/inner/file; readlink /root/link; stat -c %h /root/one; stat -c "%Y %F" /usr/local/lib/own',
  'stat -c "%s" /root/sparse; test $(stat -c %b /root/sparse) -lt 1000 && echo sparse || echo filled',
].join('; ')
const specialListed = (filled = false) =>
  [
    ...['0 0 directory', '777 0 symbolic link', '644 0 fifo', '4751 0 regular file'],
    ...['secret', '/nowhere', '2', '981173106 directory', '5000000', filled ? 'filled' : 'sparse', ''],
  ].join('\n')
