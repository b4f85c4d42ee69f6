import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createMachineFolders } from '#host/runtimes/bubblewrap/machineFolder.ts'
import type { Machine, SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import { testRuntime } from '../support/bubblewrapMachines.ts'
import { eventually, until } from '../support/eventually.ts'
import { findUid, leftovers, listCgroups } from '../support/leftovers.ts'
import { createMachineSpec, never, run } from '../support/machines.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

describe('a spare sandbox', () => {
  const folder = join(temporaryFolder('spares'), 'machines')
  const runtime = testRuntime({ folder, spares: 1 })
  const machines: Machine[] = []
  afterAll(async () => {
    for (const machine of machines) await endMachine(runtime, machine)
  })

  const create = async (changes: Partial<MachineSpec> = {}): Promise<Machine> => {
    const machine = await runtime.create(createMachineSpec(changes), never)
    machines.push(machine)
    return machine
  }
  /** Whether the machine was one before: its cgroups have the name that they were made with. */
  const wasSpare = async ({ id }: Machine): Promise<boolean> =>
    /steward-spare-/.test((await readFile(join(folder, id, 'run.json'), 'utf8')).toString())
  const spare = (): Promise<string> => until('a spare', async () => (await readySpares(folder))[0])

  test('is taken over with the name, the sizes and the files that were asked for', async () => {
    expect(await wasSpare(await create())).toBe(false)
    await spare()
    const machine = await create({ hostname: 'atlas', memoryMb: 2048, vcpu: 1 })
    expect(await wasSpare(machine)).toBe(true)
    expect(await run(machine, 'hostname; cat /etc/hostname; grep -c atlas /etc/hosts')).toBe('atlas\natlas\n1\n')
    if (machine.enforced.memory) expect(await run(machine, "free -m | awk '/^Mem:/ { print $2 }'")).toBe('2048\n')
    expect(await run(machine, 'df -m --output=size /dev/shm | tail -n 1 | tr -d " "')).toBe('1024\n')
    expect(await run(machine, 'ls -A /root /home /tmp /var/tmp /opt /srv /run')).not.toContain('spare')
    expect(await machine.processes()).toHaveLength(1)
    expect(await runtime.listStored()).toContain(machine.id)
  })

  test('is a user, and has a key ring and namespaces, that no other sandbox has', async () => {
    await spare()
    const machine = await create()
    expect(await wasSpare(machine)).toBe(true)
    const users = await Promise.all(machines.map(({ id }) => findUid(folder, id)))
    if (process.getuid?.() === 0) expect(new Set(users).size).toBe(machines.length)
    const namespaces = await Promise.all(
      machines.map((target) => run(target, 'cd /proc/self/ns && readlink cgroup ipc mnt net pid user uts')),
    )
    const all = namespaces.flatMap((text) => text.trim().split('\n'))
    expect(new Set(all).size).toBe(machines.length * 7)
  })

  test('keeps its files over a restart, like any other', async () => {
    await spare()
    const machine = await create()
    expect(await wasSpare(machine)).toBe(true)
    await run(machine, 'echo kept > /root/kept')
    await machine.stop()
    const again = await runtime.start(createMachineSpec({ id: machine.id }), never)
    machines.splice(machines.indexOf(machine), 1, again)
    expect(await run(again, 'cat /root/kept')).toBe('kept\n')
  })

  test('is not taken for a machine with another disk, and is then replaced by one that fits', async () => {
    const before = await spare()
    const machine = await create({ diskGb: 2 })
    expect(await wasSpare(machine)).toBe(false)
    await until('another spare', async () => {
      const now = await readySpares(folder)
      return now.length === 1 && now[0] !== before
    })
    expect(await wasSpare(await create({ diskGb: 2 }))).toBe(true)
  })

  test('that was killed is not given to anybody, and leaves nothing', async () => {
    await create()
    const name = await spare()
    const run = JSON.parse(await readFile(join(folder, name, 'run.json'), 'utf8'))
    process.kill(run.processes[1].pid, 'SIGKILL')
    await eventually(async () => expect(await readdir(folder)).not.toContain(name))
    expect(await listCgroups(name)).toEqual([])
    expect(await wasSpare(await create())).toBe(false)
  })
})

test('spares end with their runtime, and leave nothing', async () => {
  const folder = join(temporaryFolder('spares'), 'machines')
  const runtime = testRuntime({ folder, spares: 2 })
  await endMachine(runtime, await runtime.create(createMachineSpec(), never))
  await until('two spares', async () => (await readySpares(folder)).length === 2)
  const names = await readySpares(folder)
  await runtime.close()
  expect((await readdir(folder)).filter((name) => name.startsWith('spare-'))).toEqual([])
  for (const name of names) await eventually(async () => expect(await leftovers({ id: name, folder })).toEqual([]))
})

test('spares that another host left are removed', async () => {
  const folder = join(temporaryFolder('spares'), 'machines')
  const runtime = testRuntime({ folder, spares: 1 })
  await endMachine(runtime, await runtime.create(createMachineSpec(), never))
  await until('a spare', async () => (await readySpares(folder)).length === 1)
  const [name = ''] = await readySpares(folder)
  const uid = await findUid(folder, name)
  const next = testRuntime({ folder })
  await next.sweep()
  await eventually(async () => expect(await leftovers({ id: name, folder, uid })).toEqual([]))
})

/** Lists spares that have recorded their run; they are ready a moment later. */
async function readySpares(folder: string): Promise<string[]> {
  const names = await createMachineFolders(folder).spares()
  const runs = await Promise.all(names.map((name) => createMachineFolders(folder).readRun(name)))
  return names.filter((_, index) => runs[index] !== undefined)
}

async function endMachine(runtime: SandboxRuntime, machine: Machine): Promise<void> {
  await machine.stop()
  await runtime.remove(machine.id)
}
