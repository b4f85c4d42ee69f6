import type { CurrentWork, WorkKind } from './currentWork.ts'

export type Stuck = { screen: number; kind: WorkKind }

/**
 * Periodically checks whether a worker is stuck in one task, using a clock that counts at most the time in which its
 * thread ran. A late check indicates a slow computer instead of a stuck worker, and restarts the timeout.
 */
export function createStuckWorkDetector(
  work: Pick<CurrentWork, 'now'>,
  { stuckMs, lookMs }: { stuckMs: number; lookMs: number },
) {
  let observed: { turn: number; sinceMs: number } | undefined
  let lookedMs = Number.NEGATIVE_INFINITY

  return (nowMs: number): Stuck | undefined => {
    const wasLate = nowMs - lookedMs > 3 * lookMs
    lookedMs = nowMs
    const present = work.now()
    if (!present) {
      observed = undefined
      return undefined
    }
    if (present.turn !== observed?.turn || wasLate) observed = { turn: present.turn, sinceMs: nowMs }
    if (nowMs - observed.sinceMs < stuckMs) return undefined
    return { screen: present.screen, kind: present.kind }
  }
}
