import type { Log } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import type { ActivitySettingsStore } from './activitySettings.ts'
import type { Timeline } from './timeline.ts'
import { findLastCut, removeCut } from './timelineCut.ts'
import { verifyRows } from './verifyRows.ts'

export type Retention = {
  /** Removes entries that are older than the configured retention. */
  apply(): Promise<void>
  close(): Promise<void>
}

type Options = {
  timeline: Timeline
  settings: Pick<ActivitySettingsStore, 'read' | 'subscribe'>
  passedMs: Clock['passedMs']
  log: Log
  /** Delay of the first run after startup, when other work has priority. */
  firstMs?: number
}

const dayMs = 86_400_000
const defaultInitialDelayMs = 60_000
const intervalMs = 6 * 3_600_000

/**
 * Removes the oldest entries of the log according to the settings. Leaves a log with problems unchanged to preserve
 * traces of tampering.
 */
export function createRetention({
  timeline,
  settings,
  passedMs,
  log,
  firstMs = defaultInitialDelayMs,
}: Options): Retention {
  const closing = new AbortController()
  const { signal } = closing
  let running = Promise.resolve()

  const cut = async (): Promise<void> => {
    const { records } = timeline
    const { keep_entries_days: days } = settings.read()
    // The process may have stopped between recording a cut and removing the rows.
    const said = findLastCut(records, timeline.head()?.sequence ?? 0)
    if (said) await removeCut(records, said.through, signal)
    if (days === null || signal.aborted) return
    const before = passedMs() - days * dayMs
    if (records.firstSince(before) === records.firstSequence()) return
    const { ok } = await verifyRows(timeline, signal)
    if (!ok) {
      log.warn('did not prune the activity log: it was modified outside Steward')
      return
    }
    const through = timeline.cut(before)
    if (through !== undefined) await removeCut(records, through, signal)
  }
  const apply = (): Promise<void> => {
    running = running
      .then(() => (signal.aborted ? undefined : cut()))
      .catch((error: unknown) => {
        if (!signal.aborted) log.error('failed to prune the activity log', { error })
      })
    return running
  }

  const first = setTimeout(() => void apply(), firstMs)
  const timer = setInterval(() => void apply(), intervalMs)
  const unsubscribe = settings.subscribe(() => void apply())
  return {
    apply,
    async close() {
      unsubscribe()
      clearTimeout(first)
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}
