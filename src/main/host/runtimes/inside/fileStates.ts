import { posix } from 'node:path'
import type { FileEntry, FileState } from '#shared/contract/files.ts'
import { toIsoTime } from '#shared/time.ts'
import { decodeFileName } from './fileNames.ts'

/** Bytes from `files.pl` as a string with one character per byte. */
type ByteText = string

const kindBits = 0o170000
const kinds: ReadonlyMap<number, FileEntry['type']> = new Map([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'symlink'],
])

export function toEntry(folder: string, name: ByteText, state: ByteText): FileEntry {
  const text = decodeName(name)
  const { version: _, mode: __, ...entry } = toState(posix.join(folder, text), state)
  return entry
}

export function toState(path: string, state: ByteText): FileState {
  const parts = /^(\d+) (\d+) (-?\d+) (\d+) (\d+) (\d+) (.*)$/s.exec(state)
  if (!parts) throw new Error('Unrecognized file status from the sandbox.')
  const [, mode = '', size = '', seconds = '', nanoseconds = '', inode = '', linked = '', target = ''] = parts
  const type = toKind(mode)
  return {
    name: posix.basename(path),
    path,
    type,
    size: Number(size),
    modified_at: toIsoTime(Number(seconds) * 1000 + Math.floor(Number(nanoseconds) / 1e6)),
    mode: Number(mode) & 0o7777,
    version: [size, seconds, nanoseconds, inode].join('-'),
    ...(type === 'symlink' && { target: decodeName(target), target_type: linked === '0' ? null : toKind(linked) }),
  }
}

export function compareFoldersFirst(a: FileEntry, b: FileEntry): number {
  const rank = (entry: FileEntry): number => (entry.type === 'directory' ? 0 : 1)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  return a.name < b.name ? -1 : Number(a.name > b.name)
}

function toKind(mode: string): FileEntry['type'] {
  return kinds.get(Number(mode) & kindBits) ?? 'other'
}

function decodeName(bytes: ByteText): string {
  return decodeFileName(Buffer.from(bytes, 'latin1'))
}
