import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import type { TextSearch } from './textSearch.ts'

const pageBytes = 4096
const pieceBytes = 8 * 1024 * 1024
/** Bits of /proc/PID/pagemap: page present in memory, or in swap. */
const presentBits = 0xc0

/**
 * Returns whether this process may read the memory of another one. Linux only. A process that is not dumpable, such as
 * a sandboxed one, can be read only by root.
 */
export function isMemoryReadable(pid: number): boolean {
  try {
    closeSync(openSync(`/proc/${pid}/mem`, 'r'))
    return true
  } catch {
    return false
  }
}

/** Searches the memory that a process has written. @returns the indexes of the texts that were found */
export function inMemory(pid: number, search: TextSearch): number[] {
  const seen = new Set<number>()
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const pages = openSync(`/proc/${pid}/pagemap`, 'r')
  const buffer = Buffer.alloc(pieceBytes)
  try {
    for (const { from, to } of writableRanges(pid)) {
      for (const run of presentRuns(pages, from, to)) {
        const length = read(memory, buffer, run.from, run.to - run.from)
        for (const index of search(buffer.subarray(0, length))) seen.add(index)
      }
    }
  } finally {
    closeSync(memory)
    closeSync(pages)
  }
  return [...seen].sort((a, b) => a - b)
}

type Range = { from: number; to: number }

function writableRanges(pid: number): Range[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      return from === '' ? [] : [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }]
    })
}

/**
 * Yields ranges of adjacent pages in use, at most one chunk at a time, because most of the memory that a browser
 * reserves is unused.
 */
function* presentRuns(pages: number, from: number, to: number): Generator<Range> {
  const step = pieceBytes / pageBytes
  const entries = Buffer.alloc(step * 8)
  for (let offset = from; offset < to; offset += pieceBytes) {
    const count = Math.min(step, (to - offset) / pageBytes)
    const entryCount = read(pages, entries.subarray(0, count * 8), (offset / pageBytes) * 8, count * 8) / 8
    let begun: number | undefined
    for (let index = 0; index <= entryCount; index += 1) {
      const isPresent = index < entryCount && ((entries[index * 8 + 7] ?? 0) & presentBits) !== 0
      if (isPresent && begun === undefined) begun = index
      if (isPresent || begun === undefined) continue
      yield { from: offset + begun * pageBytes, to: offset + index * pageBytes }
      begun = undefined
    }
  }
}

/** Reads nothing if the mapping has been removed. */
function read(file: number, buffer: Buffer, position: number, length: number): number {
  try {
    return readSync(file, buffer, 0, length, position)
  } catch {
    return 0
  }
}
