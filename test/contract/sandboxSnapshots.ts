import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { SandboxInstance, SandboxRuntime, SnapshotRef } from '#host/runtimes/sandboxRuntime.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { type SandboxId, SnapshotId } from '#shared/ids.ts'
import { until } from '../support/assertions/eventually.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'

export function snapshotsContract(
  under: () => { runtime: SandboxRuntime; image: ImageName | null; fillsHoles?: boolean | undefined },
  spec: Partial<SandboxSpec> = {},
): void {
  describe('snapshots', () => {
    const runtimeUnderTest = () => under().runtime
    const createSpec = (changes: Partial<SandboxSpec> = {}) => createSandboxSpec({ image: under().image, ...changes })
    const locate = (sandboxId: SandboxId): SnapshotRef => ({
      sandboxId,
      snapshotId: SnapshotId.parse(`snap_${randomBytes(12).toString('hex')}`),
    })
    const remove = async (...sandboxes: SandboxInstance[]): Promise<void> => {
      for (const sandbox of sandboxes) {
        await sandbox.stop()
        await runtimeUnderTest().remove(sandbox.id)
      }
    }

    test('capture a running sandbox at one point in time for fork and restore', async () => {
      const runtime = runtimeUnderTest()
      const own = createSpec({ hostname: 'source', ...spec })
      const source = await runtime.create(own, never)
      await run(source, `${special}; echo first > /root/kept; (${writer}) >/dev/null 2>&1 &`)
      await waitUntilWritten(source, 20)
      const snapshot = locate(own.id)
      expect(await runtime.snapshot(snapshot, never, source)).toBeGreaterThan(0)
      await waitUntilWritten(source, (await counts(source)).behind + 20)
      await run(source, 'echo second > /root/kept; rm -r /root/closed')

      const fork = await runtime.create(createSpec({ hostname: 'fork', ...spec }), never, snapshot)
      const forkCounts = await counts(fork)
      expect(forkCounts.ahead - forkCounts.behind).toBeLessThanOrEqual(1)
      expect(await run(fork, 'cat /root/kept; hostname; echo $(cat /etc/hostname); pgrep -c perl || true')).toBe(
        'first\nfork\nfork\n0\n',
      )
      expect(await run(fork, listSpecial)).toBe(specialListed(under().fillsHoles))
      await run(fork, 'echo forked > /root/kept')
      expect(await run(source, 'cat /root/kept')).toBe('second\n')

      await source.stop()
      await runtime.restore(snapshot, never)
      const restored = await runtime.start(own, never)
      expect(await counts(restored)).toEqual(forkCounts)
      expect(await run(restored, 'cat /root/kept; hostname')).toBe('first\nsource\n')
      expect(await run(restored, listSpecial)).toBe(specialListed(under().fillsHoles))
      await run(restored, 'echo third > /root/kept')

      await restored.stop()
      await runtime.restore(snapshot, never)
      const again = await runtime.start(own, never)
      expect(await run(again, 'cat /root/kept')).toBe('first\n')
      expect(await run(fork, 'cat /root/kept')).toBe('forked\n')
      await remove(again, fork)
    })

    test('capture a stopped sandbox and no longer exist after removal', async () => {
      const runtime = runtimeUnderTest()
      const source = createSpec(spec)
      const instance = await runtime.create(source, never)
      await run(instance, 'echo stopped > /root/kept')
      await instance.stop()
      const snapshot = locate(source.id)
      await runtime.snapshot(snapshot, never, undefined)
      const fork = await runtime.create(createSpec(spec), never, snapshot)
      expect(await run(fork, 'cat /root/kept')).toBe('stopped\n')
      await runtime.removeSnapshot(snapshot)
      await runtime.removeSnapshot(snapshot)
      await expectAppError('snapshot/not-found', runtime.restore(snapshot, never))
      const another = createSpec(spec)
      await expectAppError('snapshot/not-found', runtime.create(another, never, snapshot))
      expect(await runtime.listStored()).not.toContain(another.id)
      await remove(fork, instance)
    })

    test('are refused without changes where they are not possible', async () => {
      const runtime = runtimeUnderTest()
      const source = createSpec(spec)
      const machine = await runtime.create(source, never)
      const snapshot = locate(source.id)
      await expect(runtime.snapshot(snapshot, AbortSignal.abort(new Error('called off')), machine)).rejects.toThrow(
        'called off',
      )
      await run(machine, 'echo alive > /root/kept')
      await runtime.snapshot(snapshot, never, machine)
      await expectAppError('sandbox/not-found', runtime.snapshot(locate(createSpec().id), never, undefined))
      await machine.stop()
      await expectAppError('snapshot/not-found', runtime.restore(locate(source.id), never))
      await expect(runtime.restore(snapshot, AbortSignal.abort(new Error('called off')))).rejects.toThrow('called off')
      const same = await runtime.start(source, never)
      expect(await run(same, 'cat /root/kept')).toBe('alive\n')
      await remove(same)
      await expectAppError('snapshot/not-found', runtime.create(createSpec(spec), never, snapshot))
    })
  })
}

/** Writes each number to disk in one file before writing it to the other. */
const writer = `perl -MIO::Handle -e '
  open my $first, ">", "/root/first"; open my $second, ">", "/root/second";
  for my $number (1 .. 1e9) { for ($first, $second) { syswrite $_, "$number\\n"; $_->sync } }'`

async function waitUntilWritten(sandbox: SandboxInstance, min: number): Promise<void> {
  await until('it to have written', async () => (await counts(sandbox)).behind >= min)
}

/** Reads the counters of both files and fails on a gap. */
async function counts(sandbox: SandboxInstance): Promise<{ ahead: number; behind: number }> {
  const countLines = async (name: string): Promise<number> => {
    const numbers = (await run(sandbox, `touch ${name}; cat ${name}`)).split('\n').slice(0, -1).map(Number)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    return numbers.length
  }
  const behindCount = await countLines('/root/second')
  return { behind: behindCount, ahead: await countLines('/root/first') }
}

/** Files that a copy easily loses or changes. */
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
