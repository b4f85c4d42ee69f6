import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { SnapshotId } from '#shared/ids.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { findUid, listCgroups, listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, expectAppError, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

describe('the limits of a sandbox', () => {
  const folder = join(temporaryFolder('limits'), 'machines')
  const runtime = testRuntime({ folder, log: silentLog, now: Date.now })
  let instance: SandboxInstance
  let neighbour: SandboxInstance

  beforeAll(async () => {
    instance = await runtime.create(createSandboxSpec({ memoryMb: 512, vcpu: 1 }), never)
    neighbour = await runtime.create(createSandboxSpec(), never)
  })
  afterAll(async () => {
    for (const target of [instance, neighbour]) {
      await target?.stop()
      if (target) await runtime.remove(target.id)
    }
  })

  test('match the limits that the runtime reports', async () => {
    expect((await runtime.describe()).enforced).toEqual(instance.enforced)
  })

  test('memory: kills a process above the limit while the sandbox survives', async (context) => {
    needs(context, 'memory', instance)
    const hog = `perl -e '$held = "x" x (600 << 20); print length $held'`
    const outcome = await instance.exec({ command: hog, timeoutMs: 200_000, signal: never })
    expect(outcome.stdout.toString()).toBe('')
    expect(outcome.exitCode).toBe(137)
    expect(await run(instance, 'echo alive')).toBe('alive\n')
    const terminal = await instance.openTerminal({ command: hog, cols: 80, rows: 24 })
    terminal.onOutput(() => {})
    expect(await terminal.ended).toEqual({ exitCode: 137, signal: 'SIGKILL' })
  })

  test('memory: grants an allocation within the limit', async () => {
    expect(await run(instance, `perl -e '$held = "x" x (100 << 20); print length $held'`)).toBe(String(100 << 20))
  })

  test('processes: allows enough processes up to a limit', async () => {
    expect(instance.enforced.processes).toBe(true)
    const spawn = `perl -e 'while ($n < 3000) { $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } push @p, $p; $n++ } kill 9, @p; waitpid $_, 0 for @p; print $n'`
    const started = Number(await run(instance, spawn))
    expect(started).toBeGreaterThan(500)
    expect(started).toBeLessThanOrEqual(1024)
  })

  test('processor: counts sandbox processes against the share of the sandbox', async (context) => {
    needs(context, 'cpu', instance)
    expect(await cgroupFile(instance, 'cpu.cfs_quota_us', 'cpu.max')).toMatch(/^100000\b/)
    const controller = new AbortController()
    const busy = instance.exec({ command: 'while :; do :; done', timeoutMs: 600_000, signal: controller.signal })
    const terminal = await instance.openTerminal({ command: 'while :; do :; done', cols: 80, rows: 24 })
    terminal.onOutput(() => {})
    await until('the kernel to count', async () => {
      const periods = /^nr_periods (\d+)$/m.exec(await cgroupFile(instance, 'cpu.stat'))?.[1]
      return Number(periods) > 0
    })
    // PID 1, two helpers and two loops.
    await until('all to be in', async () => {
      const members = await cgroupFile(instance, 'cgroup.procs')
      return members.trim().split('\n').length >= 5
    })
    controller.abort()
    terminal.close()
    await Promise.all([busy, terminal.ended])
  })

  test('processor: gives all sandboxes together less weight than Steward', async (context) => {
    needs(context, 'cpu', instance)
    const [ownGroup] = await cgroupsWith(instance, 'cpu.stat')
    const files = await Promise.all(['cpu.shares', 'cpu.weight'].map((name) => textIn(dirname(ownGroup ?? ''), name)))
    expect(files.find((text) => text !== '')).toBe(files[0] === '' ? '25\n' : '256\n')
    expect(await cgroupsWith(neighbour, 'cpu.stat')).toEqual([join(dirname(ownGroup ?? ''), `steward-${neighbour.id}`)])
  })

  test('disk: can be used completely and affects only its own sandbox when full', async (context) => {
    needs(context, 'disk', instance)
    const spec = createSandboxSpec()
    const full = await runtime.create(spec, never)
    const filling = 'fallocate -l 980M /root/most && exec head -c 200M /dev/zero > /root/rest'
    const filled = await full.exec({ command: filling, timeoutMs: 200_000, signal: never })
    expect(filled).toMatchObject({ exitCode: 1 })
    expect(filled.stderr.toString()).toContain('No space left on device')
    expect(Number(await run(full, 'du -cm /root | tail -1 | cut -f1'))).toBeGreaterThanOrEqual(1024)
    expect((await full.usage()).diskBytes).toBeGreaterThan(1024 ** 3)
    await expectAppError('file/no-space', full.writeFile('/root/more', Buffer.alloc(1_000_000), never))
    expect(await run(full, 'echo alive; ls /root')).toBe('alive\nmore\nmost\nrest\n')
    expect(await run(neighbour, 'head -c 20M /dev/zero > /root/own; sync /root/own; stat -c %s /root/own')).toBe(
      `${20 * 1024 ** 2}\n`,
    )

    const snapshotPath = { sandboxId: spec.id, snapshotId: SnapshotId.parse(`snap_${'0'.repeat(24)}`) }
    await runtime.snapshot(snapshotPath, never, full)
    await run(full, 'rm /root/most; head -c 50M /dev/zero > /root/again')
    await full.stop()
    await runtime.restore(snapshotPath, never)
    const again = await runtime.start(spec, never)
    expect(await run(again, 'ls /root; rm /root/rest; echo room > /root/more; cat /root/more')).toBe(
      'more\nmost\nrest\nroom\n',
    )
    await again.stop('discard')
    await runtime.remove(spec.id)
    await eventually(async () => expect(await listSandboxResources({ id: spec.id, folder })).toEqual([]))
  })

  test('refuses to create a sandbox without enough capacity and leaves nothing behind', async () => {
    const minFreeBytes = Number.MAX_SAFE_INTEGER
    const cramped = testRuntime({ folder, log: silentLog, now: Date.now, minFreeBytes })
    const spec = createSandboxSpec()
    const error = await cramped.create(spec, never).catch((it: unknown) => it)
    expect(error).toMatchObject({
      code: 'sandbox/capacity',
      detail: expect.stringMatching(/has \d+ MB free; .* needs/),
    })
    expect(await listSandboxResources({ id: spec.id, folder })).toEqual([])
  })

  test('a fork bomb affects no other sandbox and ends with its own', async () => {
    const spec = createSandboxSpec()
    const bombed = await runtime.create(spec, never)
    const uid = await findUid(folder, spec.id)
    const bomb = await bombed.openTerminal({
      command: 'bomb() { bomb | bomb & }; echo lit; bomb; sleep 1000',
      cols: 80,
      rows: 24,
    })
    let text = ''
    bomb.onOutput((bytes) => {
      text = (text + bytes.toString()).slice(-10_000)
    })
    await until('the bomb to hit the limit', () => /retry|unavailable/i.test(text), 120_000)
    expect(await run(neighbour, 'echo fine; (echo and; sleep 0.01; echo forks) | cat')).toBe('fine\nand\nforks\n')
    await bombed.stop()
    await bomb.ended
    await runtime.remove(spec.id)
    await eventually(async () => expect(await listSandboxResources({ id: spec.id, folder, uid })).toEqual([]))
  })
})

function needs(context: TestContext, limit: 'memory' | 'cpu' | 'disk', machine: SandboxInstance): void {
  context.skip(!machine.enforced[limit], `this machine cannot enforce a ${limit} limit, and says so`)
}

/** Reads the first of these files that exists in the CPU cgroup of the sandbox. */
async function cgroupFile(machine: SandboxInstance, ...names: string[]): Promise<string> {
  for (const path of await cgroupsWith(machine, 'cpu.stat')) {
    for (const name of names) if (existsSync(join(path, name))) return readFile(join(path, name), 'utf8')
  }
  throw new Error(`No cgroup of ${machine.id} has ${names.join(' or ')}.`)
}

async function cgroupsWith({ id }: SandboxInstance, name: string): Promise<string[]> {
  return (await listCgroups(id)).filter((path) => existsSync(join(path, name)))
}

async function textIn(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8').catch(() => '')
}
