/** Check of a process that does not respond. The two clocks differ by the time that the computer was suspended. */
export type Look = { monotonicMs: number; bootMs: number; isStopped: boolean }

export type SilenceMeter = {
  recordAnswer(): void
  /** @returns whether the process has been silent too long */
  look(look: Look): boolean
}

/** Smaller differences of the two clocks come from the time between reading them. */
const minSuspendMs = 500

/**
 * Measures how long a process has not responded. Excludes suspends and time stopped by a signal, and counts at most two
 * intervals for a late check, since a busy computer delays both processes.
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
    recordAnswer() {
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
