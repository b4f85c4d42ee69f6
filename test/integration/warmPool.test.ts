import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { SandboxInstance, SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { listReadyWarmSandboxes } from '#test/support/fixtures/warmSandboxes.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { findUid, listCgroups, listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

describe('a warm sandbox', () => {
  const folder = join(temporaryFolder('warm-pool'), 'machines')
  const runtime = testRuntime({ folder, warmPoolSize: 1 })
  const sandboxes: SandboxInstance[] = []
  afterAll(async () => {
    for (const instance of sandboxes) await endSandbox(runtime, instance)
  })

  const create = async (changes: Partial<SandboxSpec> = {}): Promise<SandboxInstance> => {
    const machine = await runtime.create(createSandboxSpec(changes), never)
    sandboxes.push(machine)
    return machine
  }
  /** Returns whether the sandbox came from the warm pool. Its cgroups keep their original name. */
  const wasWarm = async ({ id }: SandboxInstance): Promise<boolean> =>
    /steward-spare-/.test((await readFile(join(folder, id, 'run.json'), 'utf8')).toString())
  const awaitWarmSandbox = (): Promise<string> =>
    until('a warm sandbox', async () => (await listReadyWarmSandboxes(folder))[0])

  test('gets the requested name, sizes and files when claimed', async () => {
    expect(await wasWarm(await create())).toBe(false)
    await awaitWarmSandbox()
    const machine = await create({ hostname: 'atlas', memoryMb: 2048, vcpu: 1 })
    expect(await wasWarm(machine)).toBe(true)
    expect(await run(machine, 'hostname; cat /etc/hostname; grep -c atlas /etc/hosts')).toBe('atlas\natlas\n1\n')
    if (machine.enforced.memory) expect(await run(machine, "free -m | awk '/^Mem:/ { print $2 }'")).toBe('2048\n')
    expect(await run(machine, 'df -m --output=size /dev/shm | tail -n 1 | tr -d " "')).toBe('1024\n')
    expect(await run(machine, 'ls -A /root /home /tmp /var/tmp /opt /srv /run')).not.toContain('spare')
    expect(await machine.processes()).toHaveLength(1)
    expect(await runtime.listStored()).toContain(machine.id)
  })

  test('has a user, key ring and namespaces that it shares with no other sandbox', async () => {
    await awaitWarmSandbox()
    const machine = await create()
    expect(await wasWarm(machine)).toBe(true)
    const users = await Promise.all(sandboxes.map(({ id }) => findUid(folder, id)))
    if (process.getuid?.() === 0) expect(new Set(users).size).toBe(sandboxes.length)
    const namespaces = await Promise.all(
      sandboxes.map((target) => run(target, 'cd /proc/self/ns && readlink cgroup ipc mnt net pid user uts')),
    )
    const all = namespaces.flatMap((text) => text.trim().split('\n'))
    expect(new Set(all).size).toBe(sandboxes.length * 7)
  })

  test('preserves its files across a restart', async () => {
    await awaitWarmSandbox()
    const machine = await create()
    expect(await wasWarm(machine)).toBe(true)
    await run(machine, 'echo kept > /root/kept')
    await machine.stop()
    const again = await runtime.start(createSandboxSpec({ id: machine.id }), never)
    sandboxes.splice(sandboxes.indexOf(machine), 1, again)
    expect(await run(again, 'cat /root/kept')).toBe('kept\n')
  })

  test('is not used for another disk size and is replaced by a matching one', async () => {
    const before = await awaitWarmSandbox()
    const machine = await create({ diskGb: 2 })
    expect(await wasWarm(machine)).toBe(false)
    await until('another warm sandbox', async () => {
      const now = await listReadyWarmSandboxes(folder)
      return now.length === 1 && now[0] !== before
    })
    expect(await wasWarm(await create({ diskGb: 2 }))).toBe(true)
  })

  test('is not assigned after it was killed and leaves nothing behind', async () => {
    await create()
    const name = await awaitWarmSandbox()
    const run = JSON.parse(await readFile(join(folder, name, 'run.json'), 'utf8'))
    process.kill(run.processes[1].pid, 'SIGKILL')
    await eventually(async () => expect(await readdir(folder)).not.toContain(name))
    expect(await listCgroups(name)).toEqual([])
    expect(await wasWarm(await create())).toBe(false)
  })
})

test('warm sandboxes end with their runtime and leave nothing behind', async () => {
  const folder = join(temporaryFolder('warm-pool'), 'machines')
  const runtime = testRuntime({ folder, warmPoolSize: 2 })
  await endSandbox(runtime, await runtime.create(createSandboxSpec(), never))
  await until('two warm sandboxes', async () => (await listReadyWarmSandboxes(folder)).length === 2)
  const names = await listReadyWarmSandboxes(folder)
  await runtime.close()
  expect((await readdir(folder)).filter((name) => name.startsWith('spare-'))).toEqual([])
  for (const name of names)
    await eventually(async () => expect(await listSandboxResources({ id: name, folder })).toEqual([]))
})

test('removes warm sandboxes left by another host', async () => {
  const folder = join(temporaryFolder('warm-pool'), 'machines')
  const runtime = testRuntime({ folder, warmPoolSize: 1 })
  await endSandbox(runtime, await runtime.create(createSandboxSpec(), never))
  await until('a warm sandbox', async () => (await listReadyWarmSandboxes(folder)).length === 1)
  const [name = ''] = await listReadyWarmSandboxes(folder)
  const uid = await findUid(folder, name)
  const next = testRuntime({ folder })
  await next.sweep()
  await eventually(async () => expect(await listSandboxResources({ id: name, folder, uid })).toEqual([]))
})

async function endSandbox(runtime: SandboxRuntime, machine: SandboxInstance): Promise<void> {
  await machine.stop()
  await runtime.remove(machine.id)
}
