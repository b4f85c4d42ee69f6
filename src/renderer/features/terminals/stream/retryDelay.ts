const delaysMs = [100, 250, 500, 1_000, 2_000] as const
const maxMs = 3_000

/** @param attempt how many attempts in a row have failed before, from 0 */
export function retryDelayMs(attempt: number): number {
  return delaysMs[attempt] ?? maxMs
}
