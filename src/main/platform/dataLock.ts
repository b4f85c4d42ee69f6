import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { isRunning, processIdentity } from './processIdentity.ts'

const LockHolder = z.object({
  pid: z.int().positive(),
  program: z.string(),
  /** Of `processIdentity`; null where the system does not say. */
  identity: z.string().nullable(),
  token: z.string(),
  /** Device and inode of the folder. They differ in a copied folder, whose lock is ignored. */
  folder: z.string().optional(),
})
export type LockHolder = z.infer<typeof LockHolder>

export type DataLock = {
  /**
   * State that the last holder left the folder in. `crashed`: it did not release its lock. `copied`: the folder is a copy
   * of one that was in use.
   */
  readonly left: FolderState
  release(): Promise<void>
}
export type FolderState = 'released' | 'crashed' | 'copied'

type LockOptions = {
  folder: string
  /** `steward.lock`, `service.lock` */
  name: string
  /** What the person knows the holder as. */
  program: string
  /** How long to wait for a holder that is on its way out. */
  waitMs?: number
}

const retryMs = 50
const claimMs = 5
const maxAttempts = 200

/**
 * Makes this process the only one of its kind in a data folder. Replaces a lock whose process has exited, whose process id
 * was reused, or that was copied from another folder.
 * @throws AppError `data/in-use` naming the process that holds it
 */
export async function lockData({ folder, name, program, waitMs = 0 }: LockOptions): Promise<DataLock> {
  const path = join(folder, name)
  const mine: LockHolder = {
    pid: process.pid,
    program,
    identity: (await processIdentity(process.pid)) ?? null,
    token: randomUUID(),
    folder: await folderIdentity(folder),
  }
  const prepared = `${path}.${mine.token}`
  try {
    await writeFile(prepared, JSON.stringify(mine), { mode: 0o600, flag: 'wx' })
    const left = leftBy((await readLock(path))?.holder, mine.folder)
    for (let waitedMs = 0; ; waitedMs += retryMs) {
      const holder = await take(path, prepared, mine)
      if (holder === undefined) return { left, release: () => release(path, mine) }
      if (waitedMs >= waitMs) throw inUse(folder, holder)
      await wait(retryMs)
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : unusable(path, cause)
  } finally {
    await rm(prepared, { force: true })
  }
}

/** The living holder of a lock, if it has one. */
export async function lockHolder(folder: string, name: string): Promise<LockHolder | undefined> {
  const held = await readLock(join(folder, name))
  if (held?.holder === undefined || isOfOther(held.holder, await folderIdentity(folder))) return undefined
  return (await isAlive(held.holder)) ? held.holder : undefined
}

/** @returns who holds the lock, or undefined once it is ours. */
async function take(path: string, prepared: string, mine: LockHolder): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await linked(prepared, path)) return undefined
    const held = await readLock(path)
    if (held === undefined) continue
    if (held.holder?.token === mine.token) return undefined
    if (held.holder !== undefined && !isOfOther(held.holder, mine.folder) && (await isAlive(held.holder))) {
      return held.holder
    }
    await replaceStale({ path, prepared, folder: mine.folder }, held.text)
  }
  throw new Error('others kept taking it')
}

/**
 * Only the process that made `<path>.claim` may replace a stale lock, by moving its claim onto it: so of many that
 * find the same stale lock, none removes the new lock of another. Who got it, the next look at the lock tells.
 */
async function replaceStale({ path, prepared, folder }: Claim, staleText: string): Promise<void> {
  const claim = `${path}.claim`
  if (!(await linked(prepared, claim))) {
    const claimant = (await readLock(claim))?.holder
    const isStale = claimant === undefined || isOfOther(claimant, folder) || !(await isAlive(claimant))
    if (isStale) await rm(claim, { force: true })
    else await wait(claimMs)
    return
  }
  try {
    if ((await readLock(path))?.text === staleText) await rename(claim, path)
    else await rm(claim, { force: true })
  } catch (failure) {
    if (!isCode(failure, 'ENOENT')) throw failure
  }
}

type Claim = { path: string; prepared: string; folder: string | undefined }

async function folderIdentity(folder: string): Promise<string | undefined> {
  const found = await stat(folder, { bigint: true }).catch(() => undefined) // the caller gets the same error
  return found && `${found.dev}:${found.ino}`
}

/** Locks of earlier versions do not name a folder. */
function isOfOther(holder: LockHolder, folder: string | undefined): boolean {
  return holder.folder !== undefined && folder !== undefined && holder.folder !== folder
}

function leftBy(holder: LockHolder | undefined, folder: string | undefined): FolderState {
  if (!holder) return 'released'
  return isOfOther(holder, folder) ? 'copied' : 'crashed'
}

async function release(path: string, mine: LockHolder): Promise<void> {
  const held = await readLock(path)
  if (held?.holder?.token === mine.token) await rm(path, { force: true })
}

async function readLock(path: string): Promise<{ text: string; holder: LockHolder | undefined } | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (failure) {
    if (isCode(failure, 'ENOENT')) return undefined
    throw failure
  }
  return { text, holder: parsed(text) }
}

/** A lock is linked into place whole, so that what does not parse was not left by a Steward that still runs. */
function parsed(text: string): LockHolder | undefined {
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

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (failure) {
    if (isCode(failure, 'EEXIST')) return false
    throw failure
  }
}

function isCode(failure: unknown, code: string): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === code
}

function inUse(folder: string, holder: LockHolder): AppError {
  return new AppError(
    'data/in-use',
    `${holder.program} (process ${holder.pid}) already uses the data folder ${folder}.`,
  )
}

function unusable(path: string, cause: unknown): AppError {
  return new AppError('data/unusable', `The lock ${path} could not be made: ${String(cause)}.`, { cause })
}
