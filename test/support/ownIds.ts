import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { copyTree } from '#commands/copyTree.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { removeInRange, wrapInRange } from '#host/runtimes/bubblewrap/images/inRange.ts'
import type { Machine, SnapshotRef } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import { SandboxId, SnapshotId } from '#shared/ids.ts'
import { until } from './eventually.ts'
import { createMachineSpec, never } from './machines.ts'

/**
 * Runs sandboxes on an ordinary user's host over three runs: `before` there are subordinate ids, `with` them, and
 * `after` they were taken away. Prints what it saw as JSON. `machines` is the folder that the runs share.
 */
const [folder = '', part = ''] = process.argv.slice(2)
const machines = join(folder, 'machines')
const old = createSpec('a', 'old')
const own = createSpec('b', 'own')
const closed = 'mkdir -p /root/closed && echo closed > /root/closed/file && chmod 0 /root/closed/file /root/closed'

const open = () => createBubblewrapRuntime({ folder: machines, log: silentLog, now: Date.now })
let runtime = open()

function createSpec(letter: string, hostname: string): MachineSpec {
  return createMachineSpec({ id: SandboxId.parse(letter.repeat(32)), hostname })
}
function createSnapshotPath({ id }: MachineSpec): SnapshotRef {
  return { sandboxId: id, snapshotId: SnapshotId.parse(`snap_${id.slice(0, 24)}`) }
}
async function said(machine: Machine, command: string): Promise<string> {
  const { stdout, stderr } = await machine.exec({ command, timeoutMs: 120_000, signal: never })
  return `${stdout.toString()}${stderr.toString()}`.trim()
}
const readUser = ({ id }: MachineSpec): number | null =>
  JSON.parse(readFileSync(join(machines, id, 'machine.json'), 'utf8')).uid
/** Owners of its first process and its files, inside and on this computer; and what its files say. */
const look = async (spec: MachineSpec, machine: Machine) => ({
  stored: readUser(spec),
  outside: Number((await said(machine, 'cat /proc/self/uid_map')).split(/\s+/)[1]),
  inside: await said(machine, 'stat -c %u:%g / /root/closed /root/closed/file | sort -u; cat /root/closed/file'),
})
async function remove(machine: Machine): Promise<void> {
  await machine.stop()
  await runtime.remove(machine.id)
}

async function before() {
  const machine = await runtime.create(old, never)
  await said(machine, closed)
  await runtime.snapshot(createSnapshotPath(old), never)
  const observation = await look(old, machine)
  await machine.stop()
  return { seen: observation, detail: (await runtime.describe()).detail }
}

async function withIds() {
  await runtime.sweep()
  const restarted = await runtime.start(old, never)
  const observations: Record<string, unknown> = {
    old: await look(old, restarted),
    detail: (await runtime.describe()).detail,
  }
  const first = await runtime.create(own, never)
  await said(first, closed)
  observations.own = await look(own, first)
  observations.link = await said(first, 'ln /root/closed/file /root/link && stat -c %h /root/link')
  const meter = async () => (await first.usage()).diskBytes ?? 0
  const empty = await meter()
  await said(first, 'head -c 20000000 /dev/zero > /root/closed/zeros')
  await until('files in closed folders to be counted', async () => (await meter()) - empty >= 20_000_000)
  await runtime.snapshot(createSnapshotPath(own), never)
  await said(first, 'rm -r /root/closed')
  await first.stop()
  await runtime.restore(createSnapshotPath(own), never)

  await restarted.stop()
  await runtime.close()
  runtime = open() // as after a restart of the host
  await runtime.sweep()
  observations.storedIds = (await runtime.listStored()).toSorted()
  observations.snapshots = await runtime.listSnapshots(own.id)
  const restored = await runtime.start(own, never)
  observations.restored = await look(own, restored)

  // As a backup copies it, and a restore: below a folder of the user itself.
  const copy = join(folder, 'copy')
  await copyTree(join(machines, own.id), copy)
  const listing = async (path: string) => {
    const list = (await wrapInRange(['find', join(path, 'files'), '-printf', '%P %U %m\\n'])) ?? []
    return execFileSync(list[0] ?? '', list.slice(1))
      .toString()
      .split('\n')
      .toSorted()
  }
  observations.isCopied = JSON.stringify(await listing(copy)) === JSON.stringify(await listing(join(machines, own.id)))
  observations.copiedUser = statSync(join(copy, 'files')).uid
  await removeInRange(copy)

  const forks = { ofOld: createSnapshotPath(old), ofOwn: createSnapshotPath(own) }
  for (const [index, [name, from]] of Object.entries(forks).entries()) {
    const spec = createSpec(String(index + 1), 'fork')
    const fork = await runtime.create(spec, never, from)
    observations[name] = await look(spec, fork)
    await remove(fork)
  }
  await runtime.removeSnapshot(createSnapshotPath(own))
  observations.snapshotsLeft = await runtime.listSnapshots(own.id)
  await restored.stop()
  return observations
}

async function after() {
  const code = (error: unknown) => (error instanceof AppError ? error.code : String(error))
  const refused = [
    await runtime.start(own, never).then(() => 'started', code),
    await runtime.remove(own.id).then(() => 'removed', code),
  ]
  const machine = await runtime.start(old, never)
  const observations = { refused, old: await look(old, machine) }
  await remove(machine)
  return { ...observations, stored: await runtime.listStored() }
}

async function end() {
  await runtime.remove(own.id)
  return { stored: await runtime.listStored() }
}

/** Result for a sandbox with a network. */
async function connect() {
  const spec = createSpec('c', 'connected')
  const machine = await runtime.create({ ...spec, network: 'internet' }, never)
  const reached = await said(machine, 'exec 3<>/dev/tcp/203.0.113.7/80 && echo reached')
  const observations = { stored: readUser(spec), reached }
  await remove(machine)
  return observations
}

const parts = { before, with: withIds, after, end, connected: connect }
const observations = await parts[part as keyof typeof parts]() // of the test
await runtime.close()
process.stdout.write(JSON.stringify(observations))
