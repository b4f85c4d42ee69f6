import { constants } from 'node:os'
import { Readable } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import type { FileEntry } from '#shared/contract/files.ts'
import type { ExecOutcome, ExecRequest } from '../sandboxRuntime.ts'
import { copyInside, moveInside } from './copyInside.ts'
import type { OperationResult } from './execProtocol.ts'
import { encodeName } from './fileNames.ts'
import type { FileOperations, MoveRequest } from './fileOperations.ts'
import { compareFoldersFirst, toEntry, toState } from './fileStates.ts'
import {
  checkPath,
  createOutputTooLargeError,
  type FileAccess,
  maxReplyBytes,
  readReply,
  toFileError,
} from './sandboxFiles.ts'

/** Runs an operation in the sandbox. Throws if it is not running. */
type RunInside = <T>(work: (door: FileAccess) => Promise<T>) => Promise<T>

/** Operation of `files.pl`, with its path and arguments. */
type Work = { name: string; path: string; more?: readonly (string | number | boolean)[]; content?: Uint8Array }

/**
 * Maximum size of one listing. Its JSON is larger, so a listing cut at this size exceeds a response and is marked
 * `truncated`.
 */
const listingBytes = 10 * 1024 * 1024

/** @param over aborts reads when the sandbox ends */
export function createFileOperations(
  inside: RunInside,
  { exec, over }: { exec: (command: ExecRequest) => Promise<ExecOutcome>; over: AbortSignal },
): FileOperations {
  const files: FileOperations = {
    stat: (path, signal) =>
      inside(async (into) => {
        const reply = await answer(into, { name: 'stat', path }, signal)
        return toState(path, reply.toString('latin1', 0, reply.length - 1))
      }),
    readRange: (path, { offset, length }, signal) =>
      inside(async (into) => {
        const all = await answer(into, { name: 'read', path, more: [offset, length] }, signal, length + maxReplyBytes)
        const end = all.indexOf(0)
        return { bytes: all.subarray(end + 1), state: toState(path, all.toString('latin1', 0, end)) }
      }),
    writeRange: (path, { offset, content, truncate = false }, signal) =>
      inside(async (into) => {
        const more = [offset, truncate, content.length]
        const reply = await answer(into, { name: 'write', path, more, content }, signal)
        return toState(path, reply.toString('latin1', 0, reply.length - 1))
      }),
    makeFolder: (path, signal) =>
      inside(async (into) => (await answer(into, { name: 'folder', path }, signal)).toString() === '1\0'),
    async move(request, signal) {
      checkPath(request.to)
      const rename = (from: string, to: string) =>
        inside(async (into) => {
          await answer(into, { name: 'move', path: from, more: moveFields({ ...request, to }) }, signal)
        })
      await moveInside({ files, exec, rename }, request, signal)
    },
    copy: (request, signal) => copyInside({ files, exec }, request, signal),
    remove: (path, { recursive }, signal) =>
      inside(async (into) => {
        await answer(into, { name: 'remove', path, more: [recursive] }, signal)
      }),
    archive: (path, signal) => inside((into) => openArchive(into, path, { signal, over })),
  }
  return files
}

/** @returns the first entries found, if the folder has too many */
export async function listSandboxFiles(
  door: FileAccess,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<FileEntry[]> {
  const work: Work = { name: 'list', path }
  const limits = { maxBytes: listingBytes, signal }
  const { output: bytes, whole, result } = await readReply(door, toMessage(work), limits)
  if (whole && result.kind !== 'ended') throw toWorkError(work, result)
  const fields = bytes.toString('latin1').split('\0')
  const entries: FileEntry[] = []
  for (let index = 0; index + 2 < fields.length; index += 2)
    entries.push(toEntry(path, fields[index] ?? '', fields[index + 1] ?? ''))
  return entries.toSorted(compareFoldersFirst)
}

async function answer(door: FileAccess, work: Work, signal: AbortSignal, maxBytes = maxReplyBytes): Promise<Buffer> {
  const { output, whole, result } = await readReply(door, toMessage(work), { maxBytes, signal })
  if (!whole) throw createOutputTooLargeError(work.path)
  if (result.kind === 'ended') return output
  throw toWorkError(work, result)
}

function toMessage(work: Work) {
  return { mode: 'file' as const, fields: [], content: encodeRequest(work) }
}

type Ends = { signal: AbortSignal; over: AbortSignal }

/** Opens an archive stream. Resolves once the folder could be read. The stream reports later errors. */
async function openArchive(door: FileAccess, path: string, { signal, over }: Ends): Promise<Readable> {
  signal.throwIfAborted()
  const work: Work = { name: 'archive', path }
  let connection: { pause(): void; resume(): void } | undefined
  const stop = () => stream.destroy(signal.reason)
  const end = () => stream.destroy(new AppError('sandbox/not-running', 'The sandbox exited.'))
  const forget = () => {
    signal.removeEventListener('abort', stop)
    over.removeEventListener('abort', end)
  }
  const stream = new Readable({
    read: () => void connection?.resume(),
    destroy(error, done) {
      forget()
      kill()
      done(error)
    },
  })
  const onOutput = (bytes: Buffer): void => {
    if (!stream.destroyed && !stream.push(bytes)) connection?.pause()
  }
  const { kill, started, result } = door.open({ ...toMessage(work), onOutput })
  signal.addEventListener('abort', stop, { once: true })
  over.addEventListener('abort', end, { once: true })
  const ended = result.then((how) => {
    forget()
    if (how.kind === 'ended') stream.push(null)
    else if (!stream.destroyed) stream.destroy(toWorkError(work, how))
    return how
  })
  connection = await started
  if (connection) return stream
  stream.on('error', () => {}) // the error is thrown here
  const how = await ended
  signal.throwIfAborted()
  throw how.kind === 'ended'
    ? new AppError('exec/failed', `The sandbox returned nothing for ${path}.`)
    : toWorkError(work, how)
}

function encodeRequest({ name, path, more = [], content }: Work): Buffer {
  checkPath(path)
  const fields = [name, path, ...more.map((value) => (typeof value === 'boolean' ? Number(value) : value))]
  const head = fields.flatMap((field) => [encodeName(String(field)), Buffer.of(0)])
  return Buffer.concat(content ? [...head, content] : head)
}

function moveFields({ to, replace, ifVersion, keepMode = false, modifiedAtMs }: MoveRequest) {
  const seconds = modifiedAtMs === undefined ? '' : String(Math.floor(modifiedAtMs / 1000))
  return [to, replace, ifVersion === undefined ? '-' : (ifVersion ?? ''), keepMode, seconds]
}

function toWorkError(work: Work, result: Exclude<OperationResult, { kind: 'ended' }>): AppError {
  const { path } = work
  const target = work.name === 'move' ? String(work.more?.[0]) : path
  if (result.kind === 'failed') {
    const { EXDEV, ENOTEMPTY, EBUSY, EINVAL, EISDIR } = constants.errno
    if (result.stage === 'changed') return new AppError('file/changed', `${target} has changed.`)
    if (result.stage === 'exists') return new AppError('file/exists', `${target} already exists.`)
    if (result.errno === ENOTEMPTY) return new AppError('file/not-empty', `The folder ${target} is not empty.`)
    if (result.errno === EBUSY) return new AppError('file/denied', `${path} belongs to the system of the sandbox.`)
    if (work.name === 'move') {
      if (result.errno === EXDEV) return new AppError('file/cross-device', `${target} is on another file system.`)
      if (result.errno === EINVAL) return new AppError('file/path', `${path} cannot be moved into itself.`)
      if (result.errno === EISDIR) return new AppError('file/exists', `${target} is a folder.`)
    }
  }
  return toFileError(path, result)
}
