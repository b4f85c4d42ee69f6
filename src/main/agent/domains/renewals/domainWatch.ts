import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'

/** Looks at all domains when something is due, and when something changed; one look at a time. */
export type DomainWatch = {
  /** Soon, or once the present look is over. */
  look(): void
  /** As soon as a look that began after this call is over. */
  runNow(): Promise<void>
  close(): Promise<void>
}

/** A computer that slept wakes up with its clock ahead of its timers. */
const maxMs = 10 * 60_000
const minMs = 20

export function createDomainWatch(options: {
  /** @returns when it is to be done next; undefined: when something changes */
  sweep: (signal: AbortSignal) => Promise<number | undefined>
  now: () => number
  log: Log
}): DomainWatch {
  const { sweep, now, log } = options
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let present: Promise<void> | undefined
  let next: Promise<void> | undefined

  const plan = (atMs: number | undefined): void => {
    clearTimeout(timer)
    if (ending.signal.aborted) return
    const waitMs = atMs === undefined ? maxMs : Math.min(Math.max(atMs - now(), minMs), maxMs)
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
      // Waits for the service: the next sweep starts when it is available again.
      if (error instanceof AppError) log.info('domains could not be looked at', { error })
      else log.error('domains could not be looked at', { error })
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
    look: () => void runNow(),
    runNow,
    async close() {
      ending.abort()
      clearTimeout(timer)
      await present
      await next
    },
  }
}
