import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'

/** Sweeps all domains when an action is due or something changed. Only one sweep runs at a time. */
export type RenewalScheduler = {
  /** Schedules a sweep soon, or after the current one. */
  trigger(): void
  /** Resolves when a sweep that started after this call has finished. */
  runNow(): Promise<void>
  close(): Promise<void>
}

/** Upper bound for timers, because they do not run while the computer sleeps. */
const maxDelayMs = 10 * 60_000
const minDelayMs = 20

export function createRenewalScheduler(options: {
  /** @returns the time of the next sweep, or undefined to wait for a change */
  sweep: (signal: AbortSignal) => Promise<number | undefined>
  now: () => number
  log: Log
}): RenewalScheduler {
  const { sweep, now, log } = options
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let present: Promise<void> | undefined
  let next: Promise<void> | undefined

  const plan = (atMs: number | undefined): void => {
    clearTimeout(timer)
    if (ending.signal.aborted) return
    const waitMs = atMs === undefined ? maxDelayMs : Math.min(Math.max(atMs - now(), minDelayMs), maxDelayMs)
    timer = setTimeout(() => void runNow(), waitMs)
    timer.unref()
  }
  const once = async (): Promise<void> => {
    if (ending.signal.aborted) return
    clearTimeout(timer)
    try {
      plan(await sweep(ending.signal))
    } catch (error) {
      if (ending.signal.aborted) return
      // The next sweep runs when the service is available again.
      if (error instanceof AppError) log.info('domain sweep failed', { error })
      else log.error('domain sweep failed', { error })
      plan(undefined)
    }
  }
  const runNow = (): Promise<void> => {
    if (!present) {
      present = once().finally(() => {
        present = undefined
      })
      return present
    }
    next ??= present.then(() => {
      next = undefined
      return runNow()
    })
    return next
  }

  return {
    trigger: () => void runNow(),
    runNow,
    async close() {
      ending.abort()
      clearTimeout(timer)
      await present
      await next
    },
  }
}
