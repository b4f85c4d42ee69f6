import type { Log } from '#platform/logging/log.ts'
import { createOutputFile, listSegments, type OutputFile } from './outputFile.ts'
import { createOutputLog, type OutputLog } from './outputLog.ts'

/** Stored output of a terminal, read from memory if possible, otherwise from disk. */
export type OutputHistory = {
  /** Cursor of the oldest stored byte. */
  readonly start: number
  readonly end: number
  /** Reads at most `maxBytes` from `from`, or from a later cursor `at` if earlier bytes were dropped. */
  read(from: number, maxBytes: number): Promise<{ start: number; bytes: Buffer }>
}

export type TerminalOutput = { memory: OutputLog; file: OutputFile; history: OutputHistory }

/** Opens the output of a terminal. Continues after the output of a previous process. */
export async function openOutput(options: {
  folder: string
  maxStoredBytes: number
  onWritten: () => void
  log: Log
}): Promise<TerminalOutput> {
  const stored = await listSegments(options.folder)
  const memory = createOutputLog(stored.at(-1)?.end ?? 0)
  const file = createOutputFile({ ...options, stored, source: memory })
  return { memory, file, history: createOutputHistory(memory, file) }
}

function createOutputHistory(memory: OutputLog, file: OutputFile): OutputHistory {
  const inMemory = (from: number, maxBytes: number) => {
    const start = Math.max(from, memory.start)
    return { start, bytes: concatRuns(memory.runs(start, Math.min(memory.end, start + maxBytes))) }
  }
  return {
    get start() {
      return Math.min(file.start, memory.start)
    },
    get end() {
      return memory.end
    },
    async read(from, maxBytes) {
      if (from >= memory.start) return inMemory(from, maxBytes)
      const start = Math.max(from, file.start)
      const bytes = await file.read(start, Math.min(maxBytes, memory.end - start))
      // The segment may have been rotated away. In that case newer output is in memory.
      return bytes.length > 0 ? { start, bytes } : inMemory(Math.max(from, file.start), maxBytes)
    },
  }
}

function concatRuns(runs: Buffer[]): Buffer {
  const [only] = runs
  return runs.length === 1 && only ? only : Buffer.concat(runs)
}
