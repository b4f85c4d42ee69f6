import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { AppError } from '#shared/appError.ts'
import type { DockerEngine } from './dockerEngine.ts'
import { followEngine } from './engineLines.ts'

type Archive = {
  engine: DockerEngine
  path: string
  onProgress: (sentence: string, share: number | null) => void
  signal: AbortSignal
}

const addMs = 3_600_000
const headBytes = 65_536
/** Length of the first file name, at the start of every tar. */
const nameBytes = 100
const headerBytes = 512
const imageFile = /^(\.\/)?([0-9a-f]{64}(\/|\.json|\.tar)|blobs\/|oci-layout|index\.json|manifest\.json|repositories)/

/**
 * Loads the output of `docker save` or `podman save`, or a tar of a root file system. @returns its reference on the
 * engine
 */
export async function loadArchive({ engine, path, onProgress, signal }: Archive): Promise<string> {
  const { size, first } = await examineArchive(path)
  const isImage = imageFile.test(first)
  return engine.use(
    'read an archive',
    async (docker, abortSignal) => {
      const source = createReadCounter(path, size, (share) =>
        onProgress('The container engine is reading the archive.', share),
      )
      abortSignal.addEventListener('abort', () => source.destroy(abortSignal.reason), { once: true })
      const answer = isImage
        ? await docker.loadImage(source, { abortSignal })
        : await docker.importImage(source, { abortSignal })
      let named: string | undefined
      const last = await followEngine(docker, answer, (line) => {
        named ??= readLoadedName(line)
      })
      const name = named ?? readLoadedName(last)
      if (name === undefined) throw new AppError('image/failed', `The container engine found no image in ${path}.`)
      return name
    },
    { signal, ms: addMs },
  )
}

/**
 * Parses the loaded name. Docker responds with `{stream: "Loaded image: NAME"}` or `{status: "sha256:…"}`. Podman's
 * status is only `sha256…`.
 */
function readLoadedName(line: unknown): string | undefined {
  if (typeof line !== 'object' || line === null) return undefined
  const text = 'stream' in line ? String(line.stream) : 'status' in line ? String(line.status) : ''
  const loaded = /Loaded image(?:\(s\)| ID)?:\s*([^\s,]+)/.exec(text)?.[1]
  return loaded ?? /^(?:sha256:)?([0-9a-f]{64})\s*$/.exec(text)?.[1]
}

/** @throws AppError `image/source` */
async function examineArchive(path: string): Promise<{ size: number; first: string }> {
  let file: FileHandle
  try {
    file = await open(path)
  } catch (error) {
    throw createUnreadableError(path, error)
  }
  try {
    const state = await file.stat()
    if (!state.isFile()) throw new AppError('image/source', `${path} is not a file.`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const head = await decompressHead(buffer.subarray(0, bytesRead))
    const isTar = head.subarray(257, 262).toString('latin1') === 'ustar'
    if (!isTar)
      throw new AppError('image/source', `${path} is not a tar archive, uncompressed or compressed with gzip or zstd.`)
    return { size: state.size, first: head.subarray(0, nameBytes).toString('latin1').replace(/\0.*$/s, '') }
  } finally {
    await file.close()
  }
}

function createUnreadableError(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  return new AppError('image/source', `${path} cannot be read (${reason}).`, { cause })
}

/**
 * Decompresses the beginning of an archive, at least one header if there is one. 64 KB may decompress to a very large
 * size.
 */
async function decompressHead(head: Buffer): Promise<Buffer> {
  const gzip = head.subarray(0, 2).toString('hex') === '1f8b'
  const zstd = head.subarray(0, 4).toString('hex') === '28b52ffd'
  if (!gzip && !zstd) return head
  const unpacker = gzip ? createGunzip() : createZstdDecompress()
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let size = 0
    const finish = (): void => resolve(Buffer.concat(pieces))
    unpacker.on('data', (bytes: Buffer) => {
      pieces.push(bytes)
      size += bytes.length
      if (size < headerBytes) return
      unpacker.destroy()
      finish()
    })
    unpacker.once('error', finish) // the input is truncated
    unpacker.once('end', finish)
    unpacker.end(head)
  })
}

function createReadCounter(path: string, size: number, onShare: (share: number) => void): Transform {
  let readBytes = 0
  const counter = new Transform({
    transform(bytes: Buffer, _, done) {
      readBytes += bytes.length
      onShare(Math.min(1, readBytes / size))
      done(null, bytes)
    },
  })
  // returns the last stream, errors reach the engine
  return pipeline(createReadStream(path), counter, () => {}) as Transform
}
