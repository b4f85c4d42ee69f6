/**
 * Time for which content must be unchanged before it can be approved, so that a click meant for something else does not
 * approve it. Browsers delay their own prompts similarly.
 */
export const decisionDelayMs = 500

/** Calls `become` with `false` on each disturbance, and with `true` after `settleMs` without one. */
export function watchSettling(become: (settled: boolean) => void): { disturb(): void; end(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    disturb() {
      clearTimeout(timer)
      become(false)
      timer = setTimeout(() => become(true), decisionDelayMs)
    },
    end: () => clearTimeout(timer),
  }
}
