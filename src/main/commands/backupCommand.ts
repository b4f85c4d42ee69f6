import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import type { StartOptions } from '#config/startOptions.ts'
import { removeInRange } from '#host/runtimes/bubblewrap/images/inRange.ts'
import { findLockHolder } from '#platform/files/dataLock.ts'
import { pathExists } from '#platform/files/pathExists.ts'
import { connectIpc, type IpcClient } from '#platform/ipc/ipcClient.ts'
import { getHostFolder, getHostSocketPath } from '#platform/net/hostSocket.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { version } from '#platform/program/version.ts'
import { AppError } from '#shared/appError.ts'
import { type HostMethod, type HostParams, type HostResult, hostMethods } from '#shared/contract/hostIpc.ts'
import { SandboxId, SnapshotId } from '#shared/ids.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { copyMode, copyTree } from './copyTree.ts'

/** Marks a folder as a backup. */
const Manifest = z.object({ kind: z.literal('steward-backup'), format: z.literal(1), version: z.string() })
const manifestName = 'backup.json'

const connectMs = 10_000
const snapshotMs = 660_000
const diskName = 'disk.ext4'
const filesName = 'files'

type Options = Pick<StartOptions, 'folder' | 'dataFolder' | 'json'>

/**
 * Copies a data folder, which may be in use: databases with SQLite's backup API, disks of running sandboxes as
 * snapshots, all other files as they are on disk. The backup is complete once it is renamed to its final name.
 * @returns the exit code of the program
 * @throws AppError `command/usage`, `backup/failed`, `data/damaged`
 */
export async function runBackup({ folder, dataFolder, json }: Options): Promise<number> {
  const target = await requireTarget(folder, dataFolder)
  const part = `${target}.part`
  await removePart(part)
  await mkdir(part, { recursive: true, mode: 0o700 })
  const host = await connectHost(dataFolder)
  try {
    const frozen = host ? await freezeDisks(host) : []
    try {
      await backUpDatabases(dataFolder, part)
      await copyRemainingFiles(dataFolder, part)
      await copySandboxes(dataFolder, part, frozen)
    } finally {
      for (const snapshot of frozen) await callHost(host, 'snapshot.delete', snapshot, snapshotMs)
    }
    const manifest: z.infer<typeof Manifest> = { kind: 'steward-backup', format: 1, version }
    await writeFile(join(part, manifestName), `${JSON.stringify(manifest)}\n`, { mode: 0o600 })
    await rm(target, { recursive: true, force: true }) // verified to be an empty folder
    await rename(part, target)
  } finally {
    host?.close()
    await removePart(part)
  }
  const outside = await listDockerSandboxes(dataFolder)
  if (json) process.stdout.write(`${JSON.stringify({ event: 'backup', folder: target, left_out: outside })}\n`)
  else process.stdout.write(`Created a backup in ${target}.\n${outside.length === 0 ? '' : describeExcluded(outside)}`)
  return 0
}

/**
 * Replaces a data folder that is not in use with a backup. The previous folder is renamed, not deleted.
 * @returns the exit code of the program
 * @throws AppError `command/usage`, `backup/failed`, `data/in-use`, `data/damaged`
 */
export async function runRestore({ folder, dataFolder, json }: Options): Promise<number> {
  if (folder === undefined) throw new AppError('command/usage', '`restore` requires the folder of a backup.')
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => undefined)
  if (text === undefined || !Manifest.safeParse(parseJsonOrUndefined(text)).success) {
    throw new AppError('backup/failed', `${folder} is not a Steward backup that this version can read.`)
  }
  for (const name of await listDatabases(folder)) openDatabase(join(folder, name), { check: true }).close()
  await requireUnused(dataFolder)
  const part = `${dataFolder}.restoring`
  await removePart(part)
  await mkdir(dirname(dataFolder), { recursive: true })
  try {
    await copyTree(folder, part)
    await rm(join(part, manifestName))
    const aside = await moveAside(dataFolder)
    await rename(part, dataFolder)
    if (json) process.stdout.write(`${JSON.stringify({ event: 'restored', folder: dataFolder, replaced: aside })}\n`)
    else process.stdout.write(`Restored ${dataFolder}.\n${aside === null ? '' : `The previous data is in ${aside}.\n`}`)
  } finally {
    await removePart(part)
  }
  return 0
}

async function removePart(part: string): Promise<void> {
  await rm(part, { recursive: true, force: true }).catch(() => removeInRange(part))
}

/** @throws AppError `command/usage` */
async function requireTarget(folder: string | undefined, dataFolder: string): Promise<string> {
  if (folder === undefined) throw new AppError('command/usage', '`backup` requires a folder that does not exist yet.')
  const isInside = (path: string, parent: string) => !relative(parent, path).startsWith('..')
  if (isInside(folder, dataFolder) || isInside(dataFolder, folder)) {
    throw new AppError('command/usage', `The backup ${folder} must not overlap the data folder ${dataFolder}.`)
  }
  const names = await readdir(folder).catch(() => [])
  if (names.length > 0)
    throw new AppError('command/usage', `${folder} is not empty. Choose a folder that does not exist yet.`)
  if (!(await pathExists(dataFolder)))
    throw new AppError('command/usage', `The data folder ${dataFolder} does not exist.`)
  return folder
}

/** @throws AppError `data/in-use` */
async function requireUnused(dataFolder: string): Promise<void> {
  for (const name of ['steward.lock', 'service.lock']) {
    const holder = await findLockHolder(dataFolder, name)
    if (holder) throw createInUseError(`${holder.program} (process ${holder.pid})`, dataFolder)
  }
  const host = await connectHost(dataFolder)
  if (!host) return
  host.close()
  throw createInUseError('The Steward sandbox host', dataFolder)
}

function createInUseError(program: string, dataFolder: string): AppError {
  return new AppError(
    'data/in-use',
    `${program} is using the data folder ${dataFolder}. Stop it with \`npm start -- stop\`.`,
  )
}

async function connectHost(dataFolder: string): Promise<IpcClient | undefined> {
  const signal = AbortSignal.timeout(connectMs)
  // no host is running
  return connectIpc({ path: getHostSocketPath(dataFolder), onEvent: () => {}, signal }).catch(() => undefined)
}

async function callHost<M extends HostMethod>(
  host: IpcClient | undefined,
  method: M,
  params: HostParams<M>,
  deadlineMs: number,
): Promise<HostResult<M>> {
  const answer = await host?.call(method, params, { signal: AbortSignal.timeout(deadlineMs) })
  return hostMethods[method].result.parse(answer?.result) as HostResult<M> // validated by the schema of this method
}

type FrozenDisk = HostParams<'snapshot.create'>

/**
 * Copies the disk of each running sandbox from a snapshot. The host pauses the sandbox's processes while it takes the
 * snapshot.
 */
async function freezeDisks(host: IpcClient): Promise<FrozenDisk[]> {
  const { machines: sandboxes } = await callHost(host, 'machine.list', {}, connectMs)
  const frozen: FrozenDisk[] = []
  try {
    for (const { id: sandboxId, runtime } of sandboxes) {
      if (runtime === 'docker') continue // its files are in the container engine
      const snapshotId = SnapshotId.parse(`snap_${randomBytes(12).toString('hex')}`)
      frozen.push({ sandboxId, snapshotId, runtime })
      await callHost(host, 'snapshot.create', { sandboxId, snapshotId, runtime }, snapshotMs)
    }
    return frozen
  } catch (error) {
    for (const snapshot of frozen) await callHost(host, 'snapshot.delete', snapshot, snapshotMs).catch(() => {})
    throw error
  }
}

async function backUpDatabases(dataFolder: string, part: string): Promise<void> {
  for (const name of await listDatabases(dataFolder)) {
    const database = openDatabase(join(dataFolder, name))
    try {
      await database.backup(join(part, name))
    } finally {
      database.close()
    }
    openDatabase(join(part, name), { check: true }).close()
  }
}

async function listDatabases(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sqlite'))
}

/** Excludes databases, sandboxes, logs, the window's browser profile, locks and sockets. */
async function copyRemainingFiles(dataFolder: string, part: string): Promise<void> {
  const instances = join(getHostFolder(dataFolder), 'machines')
  const excludedPaths = new Set(['logs', 'window', join('host', 'machines'), join('host', 'host.pid')])
  const isExcluded = (path: string): boolean => {
    const inside = relative(dataFolder, path)
    const name = basename(path)
    return (
      excludedPaths.has(inside) ||
      path === instances ||
      /\.lock(\..*)?$/.test(name) ||
      /\.sqlite(-wal|-shm)?$/.test(name)
    )
  }
  await copyTree(dataFolder, part, { skip: isExcluded })
}

async function copySandboxes(dataFolder: string, part: string, frozen: readonly FrozenDisk[]): Promise<void> {
  const machines = join(getHostFolder(dataFolder), 'machines')
  const snapshotIds = new Map<string, SnapshotId>(frozen.map(({ sandboxId, snapshotId }) => [sandboxId, snapshotId]))
  for (const name of await readdir(machines).catch(() => [])) {
    if (!SandboxId.safeParse(name).success) continue
    const from = join(machines, name)
    const to = join(getHostFolder(part), 'machines', name)
    const snapshotId = snapshotIds.get(name)
    await mkdir(to, { recursive: true, mode: 0o700 })
    for (const entry of await listEntries(from)) {
      const isExcludedEntry = entry === 'run.json' || (snapshotId !== undefined && isCurrentDisk(entry, snapshotId))
      if (!isExcludedEntry) await copyTree(join(from, entry), join(to, entry))
    }
    await copyMode(from, to)
    if (snapshotId === undefined) continue
    const snapshot = join(from, 'snapshots', snapshotId)
    const isImage = await pathExists(`${snapshot}.ext4`)
    await copyTree(isImage ? `${snapshot}.ext4` : snapshot, join(to, isImage ? diskName : filesName))
  }
}

/** Returns the paths in a sandbox folder. Lists each snapshot separately. */
async function listEntries(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  const snapshots = await readdir(join(folder, 'snapshots')).catch(() => [])
  return [...names.filter((name) => name !== 'snapshots'), ...snapshots.map((name) => join('snapshots', name))]
}

/** Whether an entry is the current disk, which changes, or the snapshot that replaces it in the backup. */
function isCurrentDisk(entry: string, snapshotId: SnapshotId): boolean {
  return entry === diskName || entry === filesName || entry.startsWith(join('snapshots', snapshotId))
}

/** Containers store their files in the engine, which has its own backup. */
async function listDockerSandboxes(dataFolder: string): Promise<string[]> {
  const names = await readdir(join(getHostFolder(dataFolder), 'docker')).catch(() => [])
  return names.filter((name) => SandboxId.safeParse(name).success)
}

function describeExcluded(ids: readonly string[]): string {
  return `The backup does not include the files of ${ids.length} Docker or Podman sandbox${ids.length === 1 ? '' : 'es'}, which stay in the engine.\n`
}

async function moveAside(folder: string): Promise<string | null> {
  if ((await readdir(folder).catch(() => [])).length === 0) {
    await rm(folder, { recursive: true, force: true })
    return null
  }
  const aside = `${folder}.before-restore-${new Date().toISOString().replace(/[-:]|\..*/g, '')}`
  await rename(folder, aside)
  return aside
}
