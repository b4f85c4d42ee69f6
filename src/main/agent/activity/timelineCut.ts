import { setImmediate } from 'node:timers/promises'
import { type Cut, parseEntry } from './rowProblems.ts'
import type { TimelineRepository } from './timelineRepository.ts'

export const cutKind = 'log.cut'

const removedAtOnce = 500

/** The newest cut that an intact entry tells of. Whether that entry itself stands in the chain, the check of all says. */
export function findLastCut(records: Pick<TimelineRepository, 'ofKind'>, upTo: number): Cut | undefined {
  for (const row of records.ofKind(cutKind, upTo)) {
    const { problem, detail } = parseEntry(row)
    const { through_sequence: through, through_hash: hash } = detail
    if (problem === null && typeof through === 'number' && typeof hash === 'string') return { through, hash }
  }
  return undefined
}

/**
 * Removes what an entry says was cut, in pieces, so that others have their turn; a stop in between is caught up by the next
 * time. The oldest go first, so that what is left always is the end of one chain.
 */
export async function removeCut(
  records: Pick<TimelineRepository, 'removeThrough' | 'firstSequence'>,
  through: number,
  signal: AbortSignal,
): Promise<void> {
  for (let first = records.firstSequence(); first > 0 && first <= through; first = records.firstSequence()) {
    records.removeThrough(Math.min(through, first + removedAtOnce - 1))
    await setImmediate()
    if (signal.aborted) return
  }
}
