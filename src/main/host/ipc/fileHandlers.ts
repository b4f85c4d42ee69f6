import { AppError } from '#shared/appError.ts'
import type { FileEntry } from '#shared/contract/files.ts'
import { type HostMethod, type HostParams, type HostResult, maxRangeBytes } from '#shared/contract/hostIpc.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'

type FileMethod = Extract<HostMethod, `file.${string}`>
type FileCalls = {
  readonly [M in FileMethod]: (call: {
    params: HostParams<M>
    body: Buffer
    signal: AbortSignal
  }) => Promise<{ result: HostResult<M>; body?: Uint8Array }>
}

const fileMs = 120_000
/** Timeout of operations on trees, which may copy, in milliseconds. */
const treeMs = 30 * 60_000
/** Maximum size of one listing as JSON. A message may be twice as large. */
const listingBytes = 8 * 1024 * 1024

export function createFileHandlers(sandboxes: Pick<Sandboxes, 'get'>): FileCalls {
  const patience = (signal: AbortSignal, ms = fileMs) => AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const getFiles = ({ sandboxId }: { sandboxId: HostParams<'file.stat'>['sandboxId'] }) =>
    sandboxes.get(sandboxId).files
  return {
    async 'file.write'({ params, body, signal }) {
      await sandboxes.get(params.sandboxId).writeFile(params.path, body, patience(signal))
      return { result: { bytesWritten: body.length } }
    },
    async 'file.read'({ params, signal }) {
      const body = await sandboxes.get(params.sandboxId).readFile(params.path, params.maxBytes, patience(signal))
      return { result: { size: body.length }, body }
    },
    async 'file.list'({ params, signal }) {
      return { result: fitIntoReply(await sandboxes.get(params.sandboxId).listFiles(params.path, patience(signal))) }
    },
    async 'file.stat'({ params, signal }) {
      return { result: await getFiles(params).stat(params.path, patience(signal)) }
    },
    async 'file.readRange'({ params: { path, offset, length, ...on }, signal }) {
      if (length > maxRangeBytes) throw new AppError('request/too-large', `${length} bytes are too many for one read.`)
      const { state, bytes } = await getFiles(on).readRange(path, { offset, length }, patience(signal))
      return { result: state, body: bytes }
    },
    async 'file.writeRange'({ params: { path, offset, truncate, ...on }, body, signal }) {
      return { result: await getFiles(on).writeRange(path, { offset, truncate, content: body }, patience(signal)) }
    },
    async 'file.makeFolder'({ params, signal }) {
      return { result: { created: await getFiles(params).makeFolder(params.path, patience(signal)) } }
    },
    async 'file.move'({ params: { sandboxId, ...request }, signal }) {
      await getFiles({ sandboxId }).move(request, patience(signal, treeMs))
      return { result: {} }
    },
    async 'file.copy'({ params: { sandboxId, ...request }, signal }) {
      await getFiles({ sandboxId }).copy(request, patience(signal, treeMs))
      return { result: {} }
    },
    async 'file.remove'({ params: { path, recursive, ...on }, signal }) {
      await getFiles(on).remove(path, { recursive }, patience(signal, treeMs))
      return { result: {} }
    },
  }
}

/** Truncates the listing to the reply limit, because a folder may have any number of files. */
function fitIntoReply(all: FileEntry[]): HostResult<'file.list'> {
  let bytes = 0
  const end = all.findIndex((entry) => {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    return bytes > listingBytes
  })
  return end === -1 ? { entries: all, truncated: false } : { entries: all.slice(0, end), truncated: true }
}
