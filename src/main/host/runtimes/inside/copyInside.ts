import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { AppError } from '#shared/appError.ts'
import type { ExecOutcome, ExecRequest } from '../sandboxRuntime.ts'
import { encodeName } from './fileNames.ts'
import type { FileOperations, MoveRequest } from './fileOperations.ts'

type Tools = {
  files: Pick<FileOperations, 'stat' | 'move' | 'remove'>
  exec: (request: ExecRequest) => Promise<ExecOutcome>
}
type Rename = (from: string, to: string) => Promise<void>

/** Timeout for a tree of many files on a slow disk, in milliseconds. */
const copyTimeoutMs = 30 * 60_000

/** Copies atomically: the sandbox's own `cp` writes to a hidden name beside the target, which is then renamed. */
export async function copyInside(
  { files, exec }: Tools,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<void> {
  await files.stat(from, signal)
  if (await existsInside(files, to, signal)) throw new AppError('file/exists', `${to} already exists.`)
  await copyAndMove(
    { files, exec },
    { from, to, moveIntoPlace: (part) => files.move({ from: part, to, replace: false }, signal) },
    signal,
  )
}

/**
 * Moves with `rename`. If that fails with `file/cross-device`, copies the files, renames the copy into place and
 * removes the original.
 */
export async function moveInside(
  { files, exec, rename }: Tools & { rename: Rename },
  { from, to }: MoveRequest,
  signal: AbortSignal,
): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'file/cross-device') throw error
    await copyAndMove({ files, exec }, { from, to, moveIntoPlace: (part) => rename(part, to) }, signal)
    await files.remove(from, { recursive: true }, signal)
  }
}

type Copy = { from: string; to: string; moveIntoPlace: (part: string) => Promise<void> }

async function copyAndMove(
  { files, exec }: Tools,
  { from, to, moveIntoPlace }: Copy,
  signal: AbortSignal,
): Promise<void> {
  const part = posix.join(posix.dirname(to), `.${randomBytes(8).toString('hex')}.part`)
  try {
    const command = `LC_ALL=C exec cp -aT -- ${quoteBashWord(from)} ${quoteBashWord(part)}`
    const { exitCode, stderr, timedOut } = await exec({ command, timeoutMs: copyTimeoutMs, cwd: '/', signal })
    signal.throwIfAborted()
    if (timedOut) throw new AppError('exec/failed', `Copying ${from} took too long.`)
    if (exitCode !== 0) throw toCopyError(from, to, stderr.toString('utf8'))
    await moveIntoPlace(part)
  } catch (error) {
    await files.remove(part, { recursive: true }, AbortSignal.timeout(copyTimeoutMs)).catch(() => {}) // may not exist
    throw error
  }
}

async function existsInside(files: Tools['files'], path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await files.stat(path, signal)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'file/not-found') return false
    throw error
  }
}

function toCopyError(from: string, to: string, said: string): AppError {
  const detail = { detail: said.slice(0, 1000) }
  if (/No space left|quota exceeded/i.test(said))
    return new AppError('file/no-space', 'The disk of the sandbox is full.')
  if (/into itself/.test(said)) return new AppError('file/path', `${from} cannot be copied into itself.`)
  if (/No such file/.test(said))
    return new AppError('file/not-found', `${from} or the folder of ${to} does not exist.`, detail)
  if (/Not a directory/.test(said)) return new AppError('file/not-a-folder', `A part of ${to} is not a folder.`)
  if (/denied|not permitted|Read-only/i.test(said)) return new AppError('file/denied', `${to} is not writable.`, detail)
  return new AppError('exec/failed', `${from} could not be copied.`, detail)
}

/** Quotes arbitrary bytes as one bash word. */
function quoteBashWord(text: string): string {
  const bytes = [...encodeName(text)]
  const plain = (byte: number) => /[\w/.-]/.test(String.fromCharCode(byte))
  return `$'${bytes.map((byte) => (plain(byte) ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join('')}'`
}
