import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { AppError } from '#shared/appError.ts'

/** Part of a file, or the whole file if `size` is absent. */
export type FilePart = { path: string; offset?: number; size?: number }

export type Compression = 'none' | 'gzip' | 'zstd'

const marks: readonly (readonly [start: string, name: string])[] = [
  ['1f8b', 'gzip'],
  ['28b52ffd', 'zstd'],
  ['fd377a585a00', 'xz'],
  ['425a68', 'bzip2'],
]

/** @throws AppError `image/failed` for a compression that Node does not support */
export async function detectCompression({ path, offset = 0, size }: FilePart): Promise<Compression> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(6), position: offset })
    const start = buffer.subarray(0, Math.min(bytesRead, size ?? bytesRead)).toString('hex')
    const name = marks.find(([mark]) => start.startsWith(mark))?.[1] ?? 'none'
    if (name === 'none' || name === 'gzip' || name === 'zstd') return name
    throw new AppError(
      'image/failed',
      `The archive is compressed with ${name}. Decompress it first, or use gzip or zstd.`,
    )
  } finally {
    await file.close()
  }
}

/** Streams the decompressed bytes of a file part. Fails if bytes are missing. */
export function openDecompressed({ path, offset = 0, size }: FilePart, compression: Compression): Readable {
  if (size === 0) return new PassThrough().end()
  const raw = createReadStream(path, { start: offset, ...(size !== undefined && { end: offset + size - 1 }) })
  if (compression === 'none') return raw
  const plain = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  return pipeline(raw, plain, () => {}) // errors reach the consumer of `plain`
}
