import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExtractEvents, Header } from 'tar-stream'
import { AppError } from '#shared/appError.ts'
import { idsPerImage } from './idRange.ts'
import type { LayerWriter, Owner } from './layerWriter.ts'

export type LayerLimits = {
  /** Remaining bytes for all layers together. */
  remainingBytes: number
  remainingEntries: number
}

/** Header as reported by tar-stream 3. See its headers.js. */
export type TarHeader = Omit<Header, 'pax' | 'type' | 'linkname'> & {
  type: Header['type'] | null
  linkname: string | null
  pax: Readonly<Record<string, string>> | null
  byteOffset: number
}
type Entry = ExtractEvents['entry'][1]

/**
 * Names that remove content of previous layers.
 * @see https://github.com/opencontainers/image-spec/blob/main/layer.md
 */
const whiteout = '.wh.'
const opaque = '.wh..wh..opq'

/**
 * Writes the entries of a tar. Skips devices, sockets and pipes, because a sandbox provides its own devices.
 * @param layered whether names with `.wh.` remove content of previous layers
 */
export async function writeTar(
  tar: Readable,
  to: { writer: LayerWriter; limits: LayerLimits; layered: boolean; signal: AbortSignal },
): Promise<void> {
  const { writer, limits, layered, signal } = to
  const { extract } = await import('tar-stream')
  const entries = extract()
  const piped = pipeline(tar, entries, { signal })
  piped.catch(() => {}) // awaited below
  try {
    for await (const entry of entries) {
      await writeEntry(entry, { writer, limits, layered })
      entry.resume()
    }
    await piped
  } catch (error) {
    entries.destroy()
    tar.destroy()
    await piped.catch(() => {}) // the first error is more specific
    signal.throwIfAborted()
    throw toReadError(error)
  }
}

async function writeEntry(
  entry: Entry,
  { writer, limits, layered }: { writer: LayerWriter; limits: LayerLimits; layered: boolean },
): Promise<void> {
  const header = entry.header as unknown as TarHeader
  const path = toSafePath(header.name)
  const owner = readOwner(header)
  limits.remainingEntries -= 1
  if (limits.remainingEntries < 0) throw createTooLargeError('it has too many files')
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (layered && name === opaque) return writer.onlyOwn(path.slice(0, -name.length - 1) || '/')
  if (layered && name.startsWith(whiteout)) {
    return writer.without(toSafePath(path.slice(1, -name.length) + name.slice(whiteout.length)))
  }
  switch (header.type) {
    case 'directory':
      return writer.folder(path, owner)
    case 'symlink':
      return writer.link(path, owner, readTarget(header.linkname, path))
    case 'link':
      return writer.sameAs(path, toSafePath(readTarget(header.linkname, path)))
    case 'file':
    case 'contiguous-file': {
      if (path === '/') throw createBrokenLayerError('its `/` is a file')
      const size = header.size
      limits.remainingBytes -= size
      if (limits.remainingBytes < 0) throw createTooLargeError('not enough disk space')
      if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))) throw createSparseError(path)
      return writer.file(path, owner, { size, chunks: entry as AsyncIterable<Uint8Array> })
    }
    case 'character-device':
    case 'block-device':
    case 'fifo':
      return
    default:
      throw createSparseError(path)
  }
}

/**
 * Returns an absolute path that cannot escape the root. `/` is the root folder itself.
 * @throws AppError `image/failed`
 */
function toSafePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  const label = JSON.stringify(name.slice(0, 200))
  if (name.startsWith('/')) throw createBrokenLayerError(`${label} is an absolute path`)
  if (parts.includes('..')) throw createBrokenLayerError(`${label} points outside the image`)
  if (name.includes('\0') || name.length > 4096) throw createBrokenLayerError(`${label} is not a valid Linux path`)
  return `/${parts.join('/')}`
}

function readOwner({ name, uid, gid, mode, mtime, pax }: TarHeader): Owner {
  const ids = { uid: Number(pax?.uid ?? uid), gid: Number(pax?.gid ?? gid) }
  for (const id of Object.values(ids)) {
    if (Number.isInteger(id) && id >= 0 && id < idsPerImage) continue
    throw createBrokenLayerError(
      `${JSON.stringify(name.slice(0, 200))} belongs to ${id}, but the highest id is ${idsPerImage - 1}`,
    )
  }
  const seconds = Math.floor(mtime.getTime() / 1000)
  return { ...ids, mode: mode & 0o7777, seconds: Number.isSafeInteger(seconds) ? seconds : 0 }
}

function readTarget(target: string | null, path: string): string {
  if (target === null || target === '' || target.includes('\0')) {
    throw createBrokenLayerError(`the link ${path} has no target`)
  }
  return target
}

function createBrokenLayerError(reason: string): AppError {
  return new AppError('image/failed', `This archive cannot be used: ${reason}.`)
}

function createSparseError(path: string): AppError {
  return createBrokenLayerError(`${path} is stored in an unsupported format, such as a sparse file`)
}

function createTooLargeError(reason: string): AppError {
  return new AppError('file/no-space', `The image is too large: ${reason}.`)
}

/** Converts errors of zlib and of the tar reader, which indicate missing or corrupt bytes. */
export function toReadError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  return new AppError('image/failed', `The archive is damaged or incomplete: ${reason}.`, { cause: error })
}
