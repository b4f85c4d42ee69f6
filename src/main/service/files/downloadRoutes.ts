import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { createBytesAnswer } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import { downloadFile, downloadFolder } from '#shared/contract/files.ts'
import type { SandboxId } from '#shared/ids.ts'
import { createRawEndpoint, type Endpoint, withWork } from '../base/endpoint.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import { parseRange } from './byteRange.ts'
import { createDownloadHeaders } from './downloadHeaders.ts'

const chunkBytes = 4 * 1024 * 1024
const pieceDeadlineMs = 120_000
const beginMs = 30_000
/** Compression level for interactive downloads: nearly the smallest result, several times faster. */
const gzipLevel = 4

type Options = {
  sandboxes: Pick<SandboxRegistry, 'running'>
  call: HostCall
  archive: HostCalls['archive']
}

export function createDownloadRoutes({ sandboxes, call, archive }: Options): Endpoint[] {
  const read = (file: File, offset: number, length: number, signal: AbortSignal) =>
    call('file.readRange', { ...file, offset, length }, { deadlineMs: pieceDeadlineMs, signal })

  /** Yields chunks of a file. The next chunk is fetched while the previous one is sent. */
  async function* pieces(file: File, { from, end, version }: Span, signal: AbortSignal): AsyncGenerator<Buffer> {
    const fetchFrom = (offset: number) => {
      const piece = read(file, offset, Math.min(chunkBytes, end - offset), signal)
      piece.catch(() => {}) // handled when the chunk is awaited
      return piece
    }
    let coming = fetchFrom(from)
    for (let offset = from; offset < end; ) {
      const { result, body } = await coming
      if (result.version !== version || body.length === 0) {
        throw new AppError('file/changed', `${file.path} has changed.`)
      }
      offset += body.length
      if (offset < end) coming = fetchFrom(offset)
      yield body
    }
  }

  return [
    withWork(
      'download',
      createRawEndpoint(
        downloadFile,
        async ({ params, query: { path } }, { caller, headers, method, signal, setHeader }) => {
          const file = { sandboxId: (await sandboxes.running(caller, params.id)).id, path }
          const { size, version, modified_at } = (await read(file, 0, 0, signal)).result
          const etag = `"${version}"`
          const about = {
            ...createDownloadHeaders(posix.basename(path)),
            'accept-ranges': 'bytes',
            etag,
            'last-modified': new Date(modified_at).toUTCString(),
          }
          if (headers['if-none-match'] === etag) return createBytesAnswer({ status: 304, headers: about })
          const range = parseRange(headers, { size, etag })
          if (range === 'unsatisfiable') {
            setHeader('content-range', `bytes */${size}`)
            throw new AppError('request/range', `${path} has ${size} bytes.`)
          }
          const { from, end, partial } = range
          return createBytesAnswer({
            status: partial ? 206 : 200,
            headers: {
              ...about,
              'content-length': String(end - from),
              ...(partial && { 'content-range': `bytes ${from}-${end - 1}/${size}` }),
            },
            ...(method !== 'HEAD' && {
              body: pieces(file, { from, end, version }, signal),
            }),
          })
        },
      ),
    ),

    withWork(
      'download',
      createRawEndpoint(downloadFolder, async ({ params, query: { path, format } }, { caller, method, signal }) => {
        const { id: sandboxId } = await sandboxes.running(caller, params.id)
        if (/^\/+$/.test(path))
          throw new AppError('file/path', 'This is the root of the sandbox. Use the path of a folder in it.')
        const { result } = await call('file.stat', { sandboxId, path }, { signal })
        if (result.type !== 'directory') throw new AppError('file/not-a-folder', `${path} is not a folder.`)
        const type = format === 'tar' ? 'application/x-tar' : 'application/gzip'
        const headers = createDownloadHeaders(`${posix.basename(path)}.${format}`, type)
        if (method === 'HEAD') return createBytesAnswer({ headers })
        const tar = await archive({ sandboxId, path }, AbortSignal.any([signal, AbortSignal.timeout(beginMs)]))
        const body = format === 'tar' ? tar : createGzipStream(tar)
        const abort = () => body.destroy()
        signal.addEventListener('abort', abort, { once: true })
        body.once('close', () => signal.removeEventListener('abort', abort))
        return createBytesAnswer({ headers, body })
      }),
    ),
  ]
}

type File = { sandboxId: SandboxId; path: string }
type Span = { from: number; end: number; version: string }

/** Destroys either stream when the other one ends. */
function createGzipStream(tar: Readable): Readable {
  const zip = createGzip({ level: gzipLevel })
  tar.on('error', (error) => zip.destroy(error))
  zip.once('close', () => tar.destroy())
  return tar.pipe(zip)
}
