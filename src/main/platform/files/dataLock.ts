import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { isRunning, processIdentity } from '../processes/processIdentity.ts'

const LockHolder = z.object({
  pid: z.int().positive(),
  program: z.string(),
  /** Result of `processIdentity`. Null if the system does not provide one. */
  identity: z.string().nullable(),
  token: z.string(),
  /** Device and inode of the folder. They differ in a copied folder, so its lock is ignored. */
  folder: z.string().optional(),
})
export type LockHolder = z.infer<typeof LockHolder>

export type DataLock = {
  /**
   * State of the folder after the previous holder. `crashed`: the lock was not released. `copied`: the folder is a copy
   * of a folder that was in use.
   */
  readonly previousState: FolderState
  release(): Promise<void>
}
export type FolderState = 'released' | 'crashed' | 'copied'

type LockOptions = {
  folder: string
  /** File name, such as `steward.lock`. */
  name: string
  /** Display name of the holder. */
  program: string
  /** Maximum wait for a holder that is shutting down, in milliseconds. */
  waitMs?: number
}

const retryMs = 50
const claimMs = 5
const maxAttempts = 200

/**
 * Acquires the exclusive lock of a data folder. Replaces a lock if its process has exited, if its process id was
 * reused, or if it was copied from another folder.
 * @throws AppError `data/in-use` with the name of the holder
 */
export async function lockData({ folder, name, program, waitMs = 0 }: LockOptions): Promise<DataLock> {
  const path = join(folder, name)
  const mine: LockHolder = {
    pid: process.pid,
    program,
    identity: (await processIdentity(process.pid)) ?? null,
    token: randomUUID(),
    folder: await readFolderIdentity(folder),
  }
  const prepared = `${path}.${mine.token}`
  try {
    await writeFile(prepared, JSON.stringify(mine), { mode: 0o600, flag: 'wx' })
    const previousState = getPreviousState((await readLock(path))?.holder, mine.folder)
    for (let waitedMs = 0; ; waitedMs += retryMs) {
      const holder = await acquireLock(path, prepared, mine)
      if (holder === undefined) return { previousState, release: () => release(path, mine) }
      if (waitedMs >= waitMs) throw createInUseError(folder, holder)
      await wait(retryMs)
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : createUnusableError(path, cause)
  } finally {
    await rm(prepared, { force: true })
  }
}

/** Finds the running holder of a lock. */
export async function findLockHolder(folder: string, name: string): Promise<LockHolder | undefined> {
  const lock = await readLock(join(folder, name))
  if (lock?.holder === undefined || isOfOtherFolder(lock.holder, await readFolderIdentity(folder))) return undefined
  return (await isAlive(lock.holder)) ? lock.holder : undefined
}

/** @returns the holder of the lock, or undefined if this process acquired it */
async function acquireLock(path: string, prepared: string, mine: LockHolder): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await linkFile(prepared, path)) return undefined
    const lock = await readLock(path)
    if (lock === undefined) continue
    if (lock.holder?.token === mine.token) return undefined
    if (lock.holder !== undefined && !isOfOtherFolder(lock.holder, mine.folder) && (await isAlive(lock.holder))) {
      return lock.holder
    }
    await replaceStale({ path, prepared, folder: mine.folder }, lock.text)
  }
  throw new Error('other processes kept acquiring it')
}

/**
 * Replaces a stale lock. Only the process that created `<path>.claim` may do so, by renaming its claim to the lock. Of
 * several processes that find the same stale lock, no process removes the new lock of another. The caller reads the
 * lock again to see which process acquired it.
 */
async function replaceStale({ path, prepared, folder }: Claim, staleText: string): Promise<void> {
  const claim = `${path}.claim`
  if (!(await linkFile(prepared, claim))) {
    const claimant = (await readLock(claim))?.holder
    const isStale = claimant === undefined || isOfOtherFolder(claimant, folder) || !(await isAlive(claimant))
    if (isStale) await rm(claim, { force: true })
    else await wait(claimMs)
    return
  }
  try {
    if ((await readLock(path))?.text === staleText) await rename(claim, path)
    else await rm(claim, { force: true })
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
}

type Claim = { path: string; prepared: string; folder: string | undefined }

async function readFolderIdentity(folder: string): Promise<string | undefined> {
  const stats = await stat(folder, { bigint: true }).catch(() => undefined) // the caller gets the same error
  return stats && `${stats.dev}:${stats.ino}`
}

/** Locks of earlier versions have no `folder`. */
function isOfOtherFolder(holder: LockHolder, folder: string | undefined): boolean {
  return holder.folder !== undefined && folder !== undefined && holder.folder !== folder
}

function getPreviousState(holder: LockHolder | undefined, folder: string | undefined): FolderState {
  if (!holder) return 'released'
  return isOfOtherFolder(holder, folder) ? 'copied' : 'crashed'
}

async function release(path: string, mine: LockHolder): Promise<void> {
  const lock = await readLock(path)
  if (lock?.holder?.token === mine.token) await rm(path, { force: true })
}

async function readLock(path: string): Promise<{ text: string; holder: LockHolder | undefined } | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  return { text, holder: parseHolder(text) }
}

/** Locks are linked into place as complete files, so an unparsable lock is not of a running Steward. */
function parseHolder(text: string): LockHolder | undefined {
  try {
    return LockHolder.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function isAlive(holder: LockHolder): Promise<boolean> {
  if (!isRunning(holder.pid)) return false
  const identity = await processIdentity(holder.pid)
  if (identity === undefined) return process.platform !== 'linux' && isRunning(holder.pid)
  return holder.identity === null || holder.identity === identity
}

async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function createInUseError(folder: string, holder: LockHolder): AppError {
  return new AppError(
    'data/in-use',
    `${holder.program} (process ${holder.pid}) is already using the data folder ${folder}.`,
  )
}

function createUnusableError(path: string, cause: unknown): AppError {
  return new AppError('data/unusable', `The lock ${path} could not be created: ${String(cause)}.`, { cause })
}
