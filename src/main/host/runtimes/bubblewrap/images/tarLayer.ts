import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExtractEvents, Header } from 'tar-stream'
import { AppError } from '#shared/appError.ts'
import { idsOfImage } from './idRange.ts'
import type { LayerWriter, Owner } from './layerWriter.ts'

export type LayerLimits = {
  /** What all layers together may take. */
  bytesLeft: number
  entriesLeft: number
}

/** What tar-stream 3 tells really: see its headers.js. */
export type TarHeader = Omit<Header, 'pax' | 'type' | 'linkname'> & {
  type: Header['type'] | null
  linkname: string | null
  pax: Readonly<Record<string, string>> | null
  byteOffset: number
}
type Entry = ExtractEvents['entry'][1]

/** Names that take away what earlier layers brought. @see https://github.com/opencontainers/image-spec/blob/main/layer.md */
const whiteout = '.wh.'
const opaque = '.wh..wh..opq'

/**
 * Gives the entries of a tar to the writer. Devices, sockets and pipes are left out: a sandbox has its own.
 * @param layered whether names with `.wh.` take something away
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
  } catch (failure) {
    entries.destroy()
    tar.destroy()
    await piped.catch(() => {}) // the first failure tells more
    signal.throwIfAborted()
    throw readFailure(failure)
  }
}

async function writeEntry(
  entry: Entry,
  { writer, limits, layered }: { writer: LayerWriter; limits: LayerLimits; layered: boolean },
): Promise<void> {
  const header = entry.header as unknown as TarHeader
  const path = safePath(header.name)
  const owner = ownerOf(header)
  limits.entriesLeft -= 1
  if (limits.entriesLeft < 0) throw tooLarge('it has too many files')
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (layered && name === opaque) return writer.onlyOwn(path.slice(0, -name.length - 1) || '/')
  if (layered && name.startsWith(whiteout)) {
    return writer.without(safePath(path.slice(1, -name.length) + name.slice(whiteout.length)))
  }
  switch (header.type) {
    case 'directory':
      return writer.folder(path, owner)
    case 'symlink':
      return writer.link(path, owner, textOf(header.linkname, path))
    case 'link':
      return writer.sameAs(path, safePath(textOf(header.linkname, path)))
    case 'file':
    case 'contiguous-file': {
      if (path === '/') throw broken('its `/` is a file')
      const size = header.size
      limits.bytesLeft -= size
      if (limits.bytesLeft < 0) throw tooLarge('there is not so much room on the disk')
      if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))) throw sparse(path)
      return writer.file(path, owner, { size, chunks: entry as AsyncIterable<Uint8Array> })
    }
    case 'character-device':
    case 'block-device':
    case 'fifo':
      return
    default:
      throw sparse(path)
  }
}

/** Absolute and without a way out; `/` for the folder itself. @throws AppError `image/failed` */
function safePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  const shown = JSON.stringify(name.slice(0, 200))
  if (name.startsWith('/')) throw broken(`${shown} is an absolute path`)
  if (parts.includes('..')) throw broken(`${shown} leads out of the image`)
  if (name.includes('\0') || name.length > 4096) throw broken(`${shown} is no path that Linux can follow`)
  return `/${parts.join('/')}`
}

function ownerOf({ name, uid, gid, mode, mtime, pax }: TarHeader): Owner {
  const ids = { uid: Number(pax?.uid ?? uid), gid: Number(pax?.gid ?? gid) }
  for (const id of Object.values(ids)) {
    if (Number.isInteger(id) && id >= 0 && id < idsOfImage) continue
    throw broken(`${JSON.stringify(name.slice(0, 200))} belongs to ${id}, and users end at ${idsOfImage - 1}`)
  }
  const seconds = Math.floor(mtime.getTime() / 1000)
  return { ...ids, mode: mode & 0o7777, seconds: Number.isSafeInteger(seconds) ? seconds : 0 }
}

function textOf(target: string | null, path: string): string {
  if (target === null || target === '' || target.includes('\0')) {
    throw broken(`the link ${path} points nowhere`)
  }
  return target
}

function broken(reason: string): AppError {
  return new AppError('image/failed', `This archive cannot be used: ${reason}.`)
}

function sparse(path: string): AppError {
  return broken(`${path} is stored in a way that Steward does not read, such as a sparse file`)
}

function tooLarge(reason: string): AppError {
  return new AppError('file/no-space', `The image is too large: ${reason}.`)
}

/** What zlib and the reader of tars say means that bytes are missing or wrong. */
export function readFailure(failure: unknown): AppError {
  if (failure instanceof AppError) return failure
  const reason = failure instanceof Error ? failure.message.replace(/\.$/, '') : String(failure)
  return new AppError('image/failed', `The archive is damaged or incomplete: ${reason}.`, { cause: failure })
}
