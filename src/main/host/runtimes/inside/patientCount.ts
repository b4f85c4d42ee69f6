import { setTimeout as pause } from 'node:timers/promises'

/** Longest wait for the first count. */
const patienceMs = 2_000
/** A count is good for this long, and for a multiple of the time that it took: at most a twentieth goes into counting. */
const freshMs = 5_000
const rest = 20

/**
 * Counts what takes a while, in the background and when the last count is no longer fresh. The answer is the last count
 * while a new one is under way, and undefined when there is none yet.
 *
 * @param count never rejects; undefined when it could not be counted, and the last count stays
 */
export function createPatientCount(count: () => Promise<number | undefined>): () => Promise<number | undefined> {
  let counted: number | undefined
  let freshUntil = 0
  let counting: Promise<void> | undefined

  const begin = async (): Promise<void> => {
    const begun = performance.now()
    counted = (await count()) ?? counted
    const ended = performance.now()
    freshUntil = ended + Math.max(freshMs, (ended - begun) * rest)
    counting = undefined
  }

  return async () => {
    if (performance.now() >= freshUntil) counting ??= begin()
    if (counted !== undefined || !counting) return counted
    const patience = new AbortController()
    const late = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => {}) // called off below
    await Promise.race([counting, late])
    patience.abort()
    return counted
  }
}
