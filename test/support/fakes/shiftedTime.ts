import { createTimeSource, type TimeSource } from '#platform/time/timeSource.ts'

export type ShiftedTime = {
  now: () => number
  source: TimeSource
  /** Advances every clock. */
  pass(ms: number): void
  /** Adjusts only the wall clock. */
  set(byMs: number): void
  sleep(ms: number): void
}

/** Creates the clocks of this computer with adjustable offsets. */
export function createShiftedTime(): ShiftedTime {
  const real = createTimeSource()
  const shift = { wallMs: 0, runningMs: 0, uptimeMs: 0 }
  const now = () => real.wallMs() + shift.wallMs
  return {
    now,
    source: {
      wallMs: now,
      runningMs: () => real.runningMs() + shift.runningMs,
      uptimeMs: () => real.uptimeMs() + shift.uptimeMs,
      bootId: 'test-boot',
    },
    pass(ms) {
      shift.wallMs += ms
      shift.runningMs += ms
      shift.uptimeMs += ms
    },
    set(byMs) {
      shift.wallMs += byMs
    },
    sleep(ms) {
      shift.wallMs += ms
      shift.uptimeMs += ms
    },
  }
}
