import { setImmediate } from 'node:timers/promises'
import { parseEntry, type Truncation } from './rowProblems.ts'
import type { TimelineRepository } from './timelineRepository.ts'

export const cutKind = 'log.cut'

const removalBatchSize = 500

/**
 * Finds the newest truncation recorded by an intact entry. Only full verification checks that this entry belongs to the
 * chain.
 */
export function findLastCut(records: Pick<TimelineRepository, 'ofKind'>, upTo: number): Truncation | undefined {
  for (const row of records.ofKind(cutKind, upTo)) {
    const { problem, detail } = parseEntry(row)
    const { through_sequence: through, through_hash: hash } = detail
    if (problem === null && typeof through === 'number' && typeof hash === 'string') return { through, hash }
  }
  return undefined
}

/**
 * Removes the rows of a recorded truncation in batches, so that other work can run in between. The next call resumes an
 * interrupted removal. The oldest rows are removed first, so that the remaining rows always form the end of one chain.
 */
export async function removeCut(
  records: Pick<TimelineRepository, 'removeThrough' | 'firstSequence'>,
  through: number,
  signal: AbortSignal,
): Promise<void> {
  for (let first = records.firstSequence(); first > 0 && first <= through; first = records.firstSequence()) {
    records.removeThrough(Math.min(through, first + removalBatchSize - 1))
    await setImmediate()
    if (signal.aborted) return
  }
}
