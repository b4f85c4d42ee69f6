import { posix } from 'node:path'
import type { FileEntry, FileState } from '#shared/contract/files.ts'
import { isoTime } from '#shared/time.ts'
import { textOfName } from './fileNames.ts'

/** What `files.pl` tells is bytes: here a character stands for each of them. */
type ByteText = string

const kindBits = 0o170000
const kinds: ReadonlyMap<number, FileEntry['type']> = new Map([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'symlink'],
])

export function entryOf(folder: string, name: ByteText, state: ByteText): FileEntry {
  const text = nameOf(name)
  const { version: _, mode: __, ...entry } = stateOf(posix.join(folder, text), state)
  return entry
}

export function stateOf(path: string, state: ByteText): FileState {
  const parts = /^(\d+) (\d+) (-?\d+) (\d+) (\d+) (\d+) (.*)$/s.exec(state)
  if (!parts) throw new Error('The state of a file was told in no known way.')
  const [, mode = '', size = '', seconds = '', nanoseconds = '', inode = '', linked = '', target = ''] = parts
  const type = kindOf(mode)
  return {
    name: posix.basename(path),
    path,
    type,
    size: Number(size),
    modified_at: isoTime(Number(seconds) * 1000 + Math.floor(Number(nanoseconds) / 1e6)),
    mode: Number(mode) & 0o7777,
    version: [size, seconds, nanoseconds, inode].join('-'),
    ...(type === 'symlink' && { target: nameOf(target), target_type: linked === '0' ? null : kindOf(linked) }),
  }
}

export function foldersFirst(one: FileEntry, other: FileEntry): number {
  const rank = (entry: FileEntry): number => (entry.type === 'directory' ? 0 : 1)
  if (rank(one) !== rank(other)) return rank(one) - rank(other)
  return one.name < other.name ? -1 : Number(one.name > other.name)
}

function kindOf(mode: string): FileEntry['type'] {
  return kinds.get(Number(mode) & kindBits) ?? 'other'
}

function nameOf(bytes: ByteText): string {
  return textOfName(Buffer.from(bytes, 'latin1'))
}
