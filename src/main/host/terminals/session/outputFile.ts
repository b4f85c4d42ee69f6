import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import type { OutputLog } from './outputLog.ts'

/** Output of a terminal on disk, which outlives this process. Appends to segments, one write at a time. */
export type OutputFile = {
  /** Cursor of the oldest byte on disk. */
  readonly start: number
  /** Cursor after the newest byte accepted by the kernel. */
  readonly end: number
  /** Whether everything up to `end` is on disk. */
  readonly isWhole: boolean
  /** Starts writing the output beyond `end`. */
  pump(): void
  /** Reads at most `maxBytes` from `from`. Empty if the bytes are not on disk. */
  read(from: number, maxBytes: number): Promise<Buffer>
  /** Resolves when all current output is written, or when writing has failed. */
  waitUntilWritten(): Promise<void>
  close(): Promise<void>
}

type OutputFileOptions = {
  folder: string
  /** Segments of a previous process, oldest first. */
  stored: readonly Segment[]
  source: OutputLog
  maxStoredBytes: number
  onWritten: () => void
  log: Log
}
export type Segment = { start: number; end: number; path: string }

const writeBytes = 1024 * 1024
const emptyBytes = Buffer.alloc(0)
const segmentName = /^output-(\d+)\.log$/

/** Stores two segments of half of `maxStoredBytes` each. Removes the older one when the newer one is full. */
export function createOutputFile(options: OutputFileOptions): OutputFile {
  const { folder, source, maxStoredBytes, onWritten, log } = options
  const segments: Pick<Segment, 'start' | 'path'>[] = [...options.stored]
  let end = source.end
  let handle: FileHandle | undefined
  let writing: Promise<void> | undefined
  let broken = false

  const current = async (): Promise<FileHandle> => {
    const newest = segments.at(-1)
    if (handle && newest && end - newest.start < maxStoredBytes / 2) return handle
    await handle?.close()
    handle = undefined
    const path = join(folder, `output-${end}.log`)
    handle = await open(path, 'a', 0o600)
    segments.push({ start: end, path })
    for (const { path: old } of segments.splice(0, Math.max(0, segments.length - 2))) await rm(old, { force: true })
    return handle
  }

  const writeAll = async (): Promise<void> => {
    while (end < source.end && !broken) {
      const file = await current()
      const runs = source.runs(Math.max(end, source.start), Math.min(source.end, end + writeBytes))
      await writeRuns(file, runs)
      end += runs.reduce((total, run) => total + run.length, 0)
      onWritten()
    }
  }

  const pump = (): void => {
    if (writing || broken || end >= source.end) return
    writing = writeAll()
      .catch((error: unknown) => {
        broken = true
        log.error('stopped writing terminal output to disk', { folder, error })
      })
      .finally(() => {
        writing = undefined
        onWritten()
        pump()
      })
  }

  return {
    get start() {
      return segments[0]?.start ?? end
    },
    /** After a failed write, no consumer waits for the disk. */
    get end() {
      return broken ? source.end : end
    },
    get isWhole() {
      return !broken
    },
    pump,
    async read(from, maxBytes) {
      const index = segments.findLastIndex((it) => it.start <= from)
      const segment = segments[index]
      const until = segments[index + 1]?.start ?? end
      if (!segment || from >= until) return emptyBytes
      return readAt(segment.path, from - segment.start, Math.min(maxBytes, until - from))
    },
    async waitUntilWritten() {
      for (pump(); writing; ) await writing
    },
    async close() {
      await writing
      await handle?.close()
      handle = undefined
    },
  }
}

export async function listSegments(folder: string): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const name of await readdir(folder)) {
    const start = segmentName.exec(name)?.[1]
    if (start === undefined) continue
    const path = join(folder, name)
    segments.push({ start: Number(start), end: Number(start) + (await stat(path)).size, path })
  }
  return segments.sort((a, b) => a.start - b.start)
}

/** Repeats writes, because a write may be partial. */
async function writeRuns(file: FileHandle, runs: Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev(runs)
  let remaining = bytesWritten
  for (const run of runs) {
    if (remaining < run.length) await file.writeFile(run.subarray(remaining))
    remaining = Math.max(0, remaining - run.length)
  }
}

async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  let file: FileHandle
  try {
    file = await open(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return emptyBytes
    throw error
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
