import { setTimeout as pause } from 'node:timers/promises'

/** Maximum wait for the first count, in milliseconds. */
const maxWaitMs = 2_000
/**
 * Minimum lifetime of a count, in milliseconds. A count also stays fresh for `rest` times its duration, so that at most
 * a twentieth of the time is spent counting.
 */
const freshMs = 5_000
const freshFactor = 20

/**
 * Runs a slow count in the background when the previous count is no longer fresh. Returns the previous count in the
 * meantime, or undefined if there is none yet.
 * @param count never rejects; undefined if counting failed, in which case the previous count is retained
 */
export function createBackgroundCount(count: () => Promise<number | undefined>): () => Promise<number | undefined> {
  let counted: number | undefined
  let freshUntil = 0
  let counting: Promise<void> | undefined

  const begin = async (): Promise<void> => {
    const begun = performance.now()
    counted = (await count()) ?? counted
    const ended = performance.now()
    freshUntil = ended + Math.max(freshMs, (ended - begun) * freshFactor)
    counting = undefined
  }

  return async () => {
    if (performance.now() >= freshUntil) counting ??= begin()
    if (counted !== undefined || !counting) return counted
    const patience = new AbortController()
    const late = pause(maxWaitMs, undefined, { signal: patience.signal }).catch(() => {}) // aborted below
    await Promise.race([counting, late])
    patience.abort()
    return counted
  }
}
