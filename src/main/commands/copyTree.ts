import { execFile } from 'node:child_process'
import type { Stats } from 'node:fs'
import { chmod, chown, copyFile, cp, lstat, mkdir, readdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isInRange, removeInRange, wrapInRange } from '#host/runtimes/bubblewrap/images/inRange.ts'
import { AppError } from '#shared/appError.ts'

const execute = promisify(execFile)

type Options = {
  /** Whether to exclude a source path and everything below it. */
  skip?: (path: string) => boolean
}

/**
 * Copies a file or folder with modes, owners and holes. Skips sockets.
 * @throws AppError `backup/failed`
 */
export async function copyTree(from: string, to: string, { skip }: Options = {}): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    if (skip) await copyPart(from, to, skip)
    else await copyPreservingHoles(from, to)
  } catch (cause) {
    throw createCopyError({ from, to }, cause)
  }
}

async function copyPart(from: string, to: string, skip: (path: string) => boolean): Promise<void> {
  const stats = await lstat(from)
  if (skip(from) || stats.isSocket()) return
  if (!stats.isDirectory()) {
    await copyEntry(from, to, stats)
    return
  }
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    await copyPart(join(from, name), join(to, name), skip).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
  await setMode(to, stats)
}

/** Applies the mode of `from`, and its owner if the process is root. */
export async function copyMode(from: string, to: string): Promise<void> {
  await setMode(to, await lstat(from))
}

async function setMode(path: string, { uid, gid, mode }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid)
  await chmod(path, mode & 0o7777)
}

const smallBytes = 1024 * 1024

async function copyEntry(from: string, to: string, stats: Stats): Promise<void> {
  if (!stats.isFile() || stats.size > smallBytes) return copyPreservingHoles(from, to)
  await copyFile(from, to)
  await setMode(to, stats)
  await utimes(to, stats.atime, stats.mtime)
}

/** Uses GNU cp, which preserves the holes of sparse disk images. */
async function copyPreservingHoles(from: string, to: string): Promise<void> {
  if (process.platform === 'linux') {
    await copyInIdRange(['/bin/cp', '-a', '-T', '--sparse=auto', '--reflink=auto', '--', from, to], { from, to })
  } else {
    await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  }
}

/**
 * Copies within the subordinate id range, because sandboxes of an unprivileged user may contain files that the user
 * cannot read.
 */
async function copyInIdRange([program = '', ...parts]: readonly string[], { from, to }: { from: string; to: string }) {
  const ranged = await wrapInRange([program, ...parts])
  if (ranged === undefined) return execute(program, parts)
  if (!isInRange(from)) {
    const isCopied = await execute(program, parts).then(
      () => true,
      () => false,
    )
    if (isCopied) return
    await removeInRange(to)
  }
  const [perl = '', ...rest] = ranged
  await execute(perl, rest)
}

/** Whether a running Steward removed the file during the copy. */
function isNotFound(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const said = 'stderr' in error ? String(error.stderr) : ''
  return ('code' in error && error.code === 'ENOENT') || said.includes('No such file or directory')
}

function createCopyError({ from, to }: { from: string; to: string }, cause: unknown): AppError {
  return new AppError('backup/failed', `Could not copy ${from} to ${to}: ${toReason(cause)}.`, { cause })
}

function toReason(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? cause.message) : String(cause)
}
