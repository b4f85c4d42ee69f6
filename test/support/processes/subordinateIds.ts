import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { copyTree } from '#commands/copyTree.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { removeInRange, wrapInRange } from '#host/runtimes/bubblewrap/images/inRange.ts'
import type { SandboxInstance, SnapshotRef } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { SandboxId, SnapshotId } from '#shared/ids.ts'
import { until } from '../assertions/eventually.ts'
import { createSandboxSpec, never } from '../fixtures/sandboxSpecs.ts'

/**
 * Runs sandboxes on an ordinary user's host in three runs: `before` the user has subordinate ids, `with` them, and
 * `after` they were revoked. Prints the observations as JSON. `machines` is the folder that the runs share.
 */
const [folder = '', part = ''] = process.argv.slice(2)
const sandboxes = join(folder, 'machines')
const old = createSpec('a', 'old')
const own = createSpec('b', 'own')
const closed = 'mkdir -p /root/closed && echo closed > /root/closed/file && chmod 0 /root/closed/file /root/closed'

const open = () => createBubblewrapRuntime({ folder: sandboxes, log: silentLog, now: Date.now })
let runtime = open()

function createSpec(letter: string, hostname: string): SandboxSpec {
  return createSandboxSpec({ id: SandboxId.parse(letter.repeat(32)), hostname })
}
function createSnapshotPath({ id }: SandboxSpec): SnapshotRef {
  return { sandboxId: id, snapshotId: SnapshotId.parse(`snap_${id.slice(0, 24)}`) }
}
async function said(sandbox: SandboxInstance, command: string): Promise<string> {
  const { stdout, stderr } = await sandbox.exec({ command, timeoutMs: 120_000, signal: never })
  return `${stdout.toString()}${stderr.toString()}`.trim()
}
const readUser = ({ id }: SandboxSpec): number | null =>
  JSON.parse(readFileSync(join(sandboxes, id, 'machine.json'), 'utf8')).uid
/**
 * Returns the owners of the first process and of the files, inside the sandbox and on this computer, and the content of
 * the files.
 */
const look = async (spec: SandboxSpec, instance: SandboxInstance) => ({
  stored: readUser(spec),
  outside: Number((await said(instance, 'cat /proc/self/uid_map')).split(/\s+/)[1]),
  inside: await said(instance, 'stat -c %u:%g / /root/closed /root/closed/file | sort -u; cat /root/closed/file'),
})
async function remove(instance: SandboxInstance): Promise<void> {
  await instance.stop()
  await runtime.remove(instance.id)
}

async function before() {
  const instance = await runtime.create(old, never)
  await said(instance, closed)
  await runtime.snapshot(createSnapshotPath(old), never, instance)
  const observation = await look(old, instance)
  await instance.stop()
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
  await runtime.snapshot(createSnapshotPath(own), never, first)
  await said(first, 'rm -r /root/closed')
  await first.stop()
  await runtime.restore(createSnapshotPath(own), never)

  await restarted.stop()
  await runtime.close()
  runtime = open() // simulates a restart of the host
  await runtime.sweep()
  observations.storedIds = (await runtime.listStored()).toSorted()
  observations.snapshots = await runtime.listSnapshots(own.id)
  const restored = await runtime.start(own, never)
  observations.restored = await look(own, restored)

  // Copies into a folder that the user owns, as a backup and restore do.
  const copy = join(folder, 'copy')
  await copyTree(join(sandboxes, own.id), copy)
  const listing = async (path: string) => {
    const list = (await wrapInRange(['find', join(path, 'files'), '-printf', '%P %U %m\\n'])) ?? []
    return execFileSync(list[0] ?? '', list.slice(1))
      .toString()
      .split('\n')
      .toSorted()
  }
  observations.isCopied = JSON.stringify(await listing(copy)) === JSON.stringify(await listing(join(sandboxes, own.id)))
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
  const instance = await runtime.start(old, never)
  const observations = { refused, old: await look(old, instance) }
  await remove(instance)
  return { ...observations, stored: await runtime.listStored() }
}

async function end() {
  await runtime.remove(own.id)
  return { stored: await runtime.listStored() }
}

async function connect() {
  const spec = createSpec('c', 'connected')
  const instance = await runtime.create({ ...spec, network: 'internet' }, never)
  const reached = await said(instance, 'exec 3<>/dev/tcp/203.0.113.7/80 && echo reached')
  const observations = { stored: readUser(spec), reached }
  await remove(instance)
  return observations
}

const parts = { before, with: withIds, after, end, connected: connect }
const observations = await parts[part as keyof typeof parts]() // passed by the test
await runtime.close()
process.stdout.write(JSON.stringify(observations))
