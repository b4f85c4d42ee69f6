import { constants } from 'node:os'
import { AppError } from '#shared/appError.ts'
import type { OperationResult, OperationTransport } from './execProtocol.ts'

/** Access to the files of one running sandbox, through a process that runs `files.pl` inside. */
export type FileAccess = OperationTransport<'read' | 'write' | 'file'>

/** Maximum size of a reply besides content: a file state with the target of a link. */
export const maxReplyBytes = 65_536

type FileRequest = {
  mode: 'read' | 'write'
  path: string
  more?: string
  content?: Uint8Array
  maxBytes: number
  signal: AbortSignal
}

export async function writeSandboxFile(
  door: FileAccess,
  request: { path: string; content: Uint8Array; signal: AbortSignal },
): Promise<void> {
  await reach(door, { ...request, mode: 'write', more: String(request.content.length), maxBytes: maxReplyBytes })
}

export function readSandboxFile(
  door: FileAccess,
  { path, maxBytes, signal }: { path: string; maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  return reach(door, { mode: 'read', path, more: String(maxBytes), maxBytes: maxBytes + maxReplyBytes, signal })
}

async function reach(door: FileAccess, { mode, path, more, content, maxBytes, signal }: FileRequest): Promise<Buffer> {
  checkPath(path)
  const fields = more === undefined ? [path] : [path, more]
  const { output, whole, result } = await readReply(
    door,
    { mode, fields, ...(content && { content }) },
    { maxBytes, signal },
  )
  if (!whole) throw createOutputTooLargeError(path)
  if (result.kind === 'ended') return output
  throw toFileError(path, result)
}

/**
 * Collects the output of a process in the sandbox. Kills the process if the output exceeds `maxBytes`; `whole` is false
 * then.
 */
export async function readReply(
  door: FileAccess,
  request: Omit<Parameters<FileAccess['open']>[0], 'onOutput'>,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<{ output: Buffer; whole: boolean; result: OperationResult }> {
  signal.throwIfAborted()
  const pieces: Buffer[] = []
  let size = 0
  const entered = door.open({
    ...request,
    onOutput(bytes) {
      size += bytes.length
      if (size <= maxBytes) pieces.push(bytes)
      else entered.kill()
    },
  })
  signal.addEventListener('abort', entered.kill, { once: true })
  const result = await entered.result
  signal.removeEventListener('abort', entered.kill)
  signal.throwIfAborted()
  return { output: Buffer.concat(pieces), whole: size <= maxBytes, result }
}

export function createOutputTooLargeError(path: string): AppError {
  return new AppError('exec/failed', `The sandbox returned more data for ${path} than requested.`)
}

export function checkPath(path: string): void {
  if (!path.startsWith('/') || path.includes('\0')) throw new AppError('file/path', `${path} is not an absolute path.`)
}

export function toFileError(path: string, result: Exclude<OperationResult, { kind: 'ended' }>): AppError {
  if (result.kind === 'refused') return result.error
  if (result.kind === 'lost') {
    return new AppError('exec/failed', `The sandbox did not report the result for ${path}.`, { detail: result.detail })
  }
  const { ENOENT, ENOTDIR, EEXIST, EISDIR, ENXIO, EACCES, EPERM, EROFS, ETXTBSY } = constants.errno
  const { ENOSPC, EDQUOT, ENAMETOOLONG, ELOOP, EFBIG } = constants.errno
  switch (result.errno) {
    case ENOENT:
      return new AppError('file/not-found', `${path} does not exist in the sandbox.`)
    case ENOTDIR:
    case EEXIST:
      return new AppError('file/not-a-folder', `A part of ${path} is not a folder.`)
    case EISDIR:
    case ENXIO:
      return new AppError('file/not-a-file', `${path} is not a regular file.`)
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
      return new AppError('file/denied', `${path} cannot be changed or read in this sandbox.`)
    case ENOSPC:
    case EDQUOT:
      return new AppError('file/no-space', 'The disk of the sandbox is full.')
    case ENAMETOOLONG:
    case ELOOP:
      return new AppError('file/path', `${path} is not a valid Linux path.`)
    case EFBIG:
      return new AppError('file/too-large', `${path} is too large for one read.`)
    default:
      return new AppError('exec/failed', `${path} could not be reached (${result.stage}, error ${result.errno}).`)
  }
}
