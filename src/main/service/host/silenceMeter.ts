/** One look at a process that does not answer; times in milliseconds of clocks that differ by the time of a suspend. */
export type Look = { monotonicMs: number; bootMs: number; isStopped: boolean }

export type SilenceMeter = {
  answered(): void
  /** @returns whether it has been silent too long */
  look(look: Look): boolean
}

/** A difference of the two clocks below this is the time between reading them. */
const minSuspendMs = 500

/**
 * Counts how long a process does not answer, while it could have: not while this computer sleeps or a signal stops the
 * process, and of a late look no more than two intervals, since whoever looks was kept from running too.
 */
export function createSilenceMeter({
  maxSilentMs,
  intervalMs,
}: {
  maxSilentMs: number
  intervalMs: number
}): SilenceMeter {
  let silentMs = 0
  let last: Look | undefined
  return {
    answered() {
      silentMs = 0
      last = undefined
    },
    look(look) {
      const passedMs = last ? look.monotonicMs - last.monotonicMs : 0
      const suspendedMs = last ? look.bootMs - last.bootMs - passedMs : 0
      last = look
      if (look.isStopped || suspendedMs > minSuspendMs) silentMs = 0
      else silentMs += Math.min(passedMs, 2 * intervalMs)
      return silentMs >= maxSilentMs
    },
  }
}
