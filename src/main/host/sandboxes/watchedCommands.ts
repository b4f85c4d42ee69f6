import { AppError } from '#shared/appError.ts'
import { createEmitter } from '#shared/emitter.ts'

/**
 * Recent output of running commands, with both streams interleaved, for viewers that attach before the command ends.
 */
export type WatchedCommands = {
  /** @throws AppError `request/invalid` if a command of the same name is already running */
  begin(name: string): { take(bytes: Buffer): void; end(): void }
  /**
   * Reads buffered output from a cursor. If there is none, waits for output, for the command to start, or for its end.
   */
  read(name: string, options: { since: number; waitMs: number; signal: AbortSignal }): Promise<WatchedOutput>
}
export type WatchedOutput = { bytes: Buffer; cursor: number; ended: boolean }

export const watchedBytes = 64 * 1024
/** Retention after the end of a command, so that late readers still see its exit. */
const retentionMs = 10_000
const maxWatched = 256

type Watched = { buffer: Buffer; total: number; ended: boolean }

export function createWatchedCommands(): WatchedCommands {
  const all = new Map<string, Watched>()
  const changes = createEmitter<string>()
  const waitForChange = (name: string, waitMs: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const onEnd = (): void => {
        clearTimeout(timer)
        unsubscribe()
        signal.removeEventListener('abort', onEnd)
        resolve()
      }
      const unsubscribe = changes.subscribe((it) => it === name && onEnd())
      const timer = setTimeout(onEnd, waitMs)
      signal.addEventListener('abort', onEnd, { once: true })
    })
  return {
    begin(name) {
      if (all.has(name)) throw new AppError('request/invalid', '`watch` belongs to a command that has already started.')
      if (all.size >= maxWatched) return { take: () => {}, end: () => {} }
      const watched: Watched = { buffer: Buffer.alloc(0), total: 0, ended: false }
      all.set(name, watched)
      changes.emit(name)
      return {
        take(bytes) {
          const buffer = bytes.length >= watchedBytes ? bytes : Buffer.concat([watched.buffer, bytes])
          watched.buffer = Buffer.from(buffer.subarray(-watchedBytes))
          watched.total += bytes.length
          changes.emit(name)
        },
        end() {
          watched.ended = true
          changes.emit(name)
          setTimeout(() => all.delete(name), retentionMs).unref()
        },
      }
    },
    async read(name, { since, waitMs, signal }) {
      const isNews = () => (all.get(name)?.total ?? 0) > since || all.get(name)?.ended === true
      const until = performance.now() + waitMs
      while (!isNews() && !signal.aborted && performance.now() < until) {
        await waitForChange(name, until - performance.now(), signal)
      }
      const watched = all.get(name)
      if (!watched) return { bytes: Buffer.alloc(0), cursor: since, ended: false }
      const { buffer, total, ended } = watched
      const missing = Math.min(Math.max(0, total - since), buffer.length)
      return { bytes: buffer.subarray(buffer.length - missing), cursor: total, ended }
    },
  }
}
