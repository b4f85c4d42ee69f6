import { setTimeout as wait } from 'node:timers/promises'

const defaultDeadlineMs = 90_000

/**
 * Repeats `probe` until it returns a value other than undefined, null or false. On timeout, throws the last error of
 * `probe`.
 */
export async function until<T>(
  subject: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  deadlineMs: number = defaultDeadlineMs,
): Promise<T> {
  const end = Date.now() + deadlineMs
  let cause: unknown
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
    try {
      const value = await probe()
      if (value !== undefined && value !== null && value !== false) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (Date.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain for: ${subject}`, { cause })
    await wait(pauseMs)
  }
}

/** Repeats an assertion until it passes. On timeout, throws its last error. */
export async function eventually(
  assertion: () => void | Promise<void>,
  deadlineMs: number = defaultDeadlineMs,
): Promise<void> {
  const end = Date.now() + deadlineMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
    try {
      return await assertion()
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await wait(pauseMs)
  }
}
