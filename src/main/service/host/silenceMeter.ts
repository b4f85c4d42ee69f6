/** Check of a process that does not respond. The two clocks differ by the time that the computer was suspended. */
export type SilenceCheck = { monotonicMs: number; bootMs: number; isStopped: boolean }

export type SilenceMeter = {
  recordAnswer(): void
  /** @returns whether the process has been silent too long */
  look(look: SilenceCheck): boolean
}

/** Smaller differences result from reading the two clocks one after the other. */
const minSuspendMs = 500

/**
 * Measures how long a process has not responded. Excludes suspends and time stopped by a signal. A late check counts as
 * at most two intervals, because a busy computer delays both processes.
 */
export function createSilenceMeter({
  maxSilentMs,
  intervalMs,
}: {
  maxSilentMs: number
  intervalMs: number
}): SilenceMeter {
  let silentMs = 0
  let last: SilenceCheck | undefined
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
