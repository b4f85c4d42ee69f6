import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { until } from '../support/assertions/eventually.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

describe('a sandbox with 512 MB and one processor', () => {
  const runtime = testRuntime({ folder: join(temporaryFolder('view'), 'machines') })
  let instance: SandboxInstance
  beforeAll(async () => {
    instance = await runtime.create(createSandboxSpec({ memoryMb: 512, vcpu: 1 }), never)
  })
  afterAll(async () => {
    await instance?.stop()
    if (instance) await runtime.remove(instance.id)
  })

  test('reports one processor through every interface', async () => {
    expect(await run(instance, 'nproc; getconf _NPROCESSORS_ONLN; grep -c ^processor /proc/cpuinfo')).toBe('1\n1\n1\n')
    expect(
      await run(
        instance,
        'grep -c "^cpu[0-9]" /proc/stat; grep -E "^cpu cores|^siblings" /proc/cpuinfo | tr -d "\\t" | sort -u; true',
      ),
    ).toMatch(/^1\n(cpu cores: 1\nsiblings: 1\n)?$/)
    expect(await run(instance, 'top -b -n 1 -1 | grep -c "^%Cpu"')).toBe('1\n')
  })

  test('has its own memory limit and counts its usage', async (context) => {
    if (!instance.enforced.memory) context.skip('this user may not limit memory here, so the host’s is what it has')
    const total = "awk '/^MemTotal:/ { print $2 }' /proc/meminfo"
    expect(await run(instance, `${total}; free -m | awk '/^Mem:/ { print $2 }'`)).toBe(`${512 * 1024}\n512\n`)
    expect(await run(instance, "awk '/^SwapTotal:/ { print $2 }' /proc/meminfo")).toBe('0\n')
    const free = async () => Number(await run(instance, "awk '/^MemAvailable:/ { print $2 }' /proc/meminfo")) / 1024
    expect(await free()).toBeLessThanOrEqual(512)
    const controller = new AbortController()
    const holding = instance.exec({
      command: `perl -e '$held = "x" x (150 << 20); sleep 1000'`,
      timeoutMs: 240_000,
      signal: controller.signal,
    })
    await until('the memory to be seen', async () => (await free()) < 512 - 140)
    controller.abort()
    await holding
    await until('it to be free again', async () => (await free()) > 512 - 100)
  })

  test('shows advancing processor time', async () => {
    const times = async () =>
      (await run(instance, "awk '/^cpu / { print $2 + $4, $5 }' /proc/stat")).trim().split(' ').map(Number)
    const [before = 0, idleBefore = 0] = await times()
    await until('time to go by', async () => {
      await run(instance, 'for i in $(seq 20000); do :; done')
      const [busy = 0, idle = 0] = await times()
      return busy + idle > before + idleBefore
    })
  })

  test('can overwrite its /proc view without affecting the host', async () => {
    await instance.exec({
      command: 'echo lies > /proc/meminfo; echo lies > /proc/stat',
      timeoutMs: 60_000,
      signal: never,
    })
    await until('the truth', async () => {
      const { stdout } = await instance.exec({ command: 'head -n 1 /proc/stat', timeoutMs: 60_000, signal: never })
      return stdout.toString().startsWith('cpu ')
    })
    expect(await instance.usage()).toMatchObject({ processes: 1 })
  })

  test('can have as many processors as this computer', async () => {
    const all = await runtime.create(createSandboxSpec({ vcpu: 4 }), never)
    const count = Math.min(4, availableParallelism())
    expect(await run(all, 'nproc; grep -c ^processor /proc/cpuinfo')).toBe(`${count}\n${count}\n`)
    await all.stop()
    await runtime.remove(all.id)
  })
})
