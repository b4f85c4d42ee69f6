import { setImmediate } from 'node:timers/promises'
import type { Output } from '#shared/contract/route.ts'
import type { verifyTimeline } from '#shared/contract/timeline.ts'
import { describeGap, findLinkProblem, parseEntry } from './rowProblems.ts'
import type { Timeline } from './timeline.ts'
import { findLastCut } from './timelineCut.ts'
import type { TimelineRow } from './timelineRepository.ts'

type VerificationResult = Output<typeof verifyTimeline>

/** Small enough that other work in this process is barely delayed. */
const batchSize = 250
const maxProblems = 100

/** Verifies every row in batches, and the expected head at the end. */
export async function verifyRows(
  { records, head: expectedHead }: Pick<Timeline, 'records' | 'head'>,
  signal?: AbortSignal,
) {
  const head = expectedHead()
  const problems: VerificationResult['problems'] = []
  let checked = 0
  let previous: TimelineRow | undefined
  let cut = findLastCut(records, head?.sequence ?? 0)
  const addProblem = (sequence: number, problem: string | null): void => {
    if (problem !== null && problems.length < maxProblems) problems.push({ sequence, problem })
  }

  for (;;) {
    const rows = records.following(previous?.sequence ?? 0, batchSize)
    // Retention may have removed the rows read so far. The chain then continues from the recorded truncation.
    let before = previous && previous.sequence < records.firstSequence() ? undefined : previous
    if (before !== previous) cut = findLastCut(records, expectedHead()?.sequence ?? 0)
    for (const row of rows) {
      const problem = parseEntry(row).problem
      addProblem(row.sequence, problem ?? findLinkProblem(row, before, cut))
      if (problem === null && row.sequence === head?.sequence && row.hash !== head.hash) {
        addProblem(row.sequence, 'The entry was replaced: its hash differs from the stored one.')
      }
      // Read for each row, because concurrent writes advance the head.
      if (row.sequence > (expectedHead()?.sequence ?? 0)) addProblem(row.sequence, 'Steward did not write this entry.')
      checked += 1
      previous = row
      before = row
    }
    if (rows.length < batchSize) break
    await setImmediate()
    signal?.throwIfAborted()
  }

  const last = previous?.sequence ?? 0
  if (head && last < head.sequence) addProblem(last + 1, `At the end, ${describeGap(last + 1, head.sequence)}.`)
  return {
    ok: problems.length === 0,
    checked,
    cut_through: cut && checked > 0 ? cut.through : null,
    head: previous ? { sequence: previous.sequence, hash: previous.hash } : null,
    problems,
  } satisfies VerificationResult
}
