import type { PresentWork, WorkKind } from './presentWork.ts'

export type Stuck = { screen: number; kind: WorkKind }

/**
 * Looks now and then whether a worker is still in the same piece of work, by a clock that at best counts the time in which
 * its thread ran. A look that comes late says that the machine is slow, not that the worker is stuck: then its time begins anew.
 */
export function createStuckWorkDetector(
  work: Pick<PresentWork, 'now'>,
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
