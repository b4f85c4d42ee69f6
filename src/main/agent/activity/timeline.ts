import type { Log } from '#platform/logging/log.ts'
import { toOriginator } from '#shared/contract/originator.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { NewActivityEntry, RecordActivity } from '../base/recordActivity.ts'
import type { CurrentTask, TaskContext } from '../base/taskContext.ts'
import { genesisHash } from './entryHash.ts'
import { addTask, findTaskStart, type WaitingEntry } from './entryTask.ts'
import { cutKind } from './timelineCut.ts'
import { createHeadFile, type Head, readHead } from './timelineHead.ts'
import { createTimelineRepository, type TimelineRepository, type TimelineRow } from './timelineRepository.ts'
import { truncateEntry } from './truncateEntry.ts'

/** Append-only, hash-chained activity log of the local agent. */
export type Timeline = {
  record: RecordActivity
  /** Stores a service's entries and the read position atomically. @throws AppError when they cannot be stored */
  follow(accountId: string, batch: { entries: readonly NewActivityEntry[]; sequence: number }): void
  /**
   * Records the removal of all entries before this time, with the hash that the chain continues from. The entries may
   * be removed afterwards.
   * @returns the last sequence of the removed range, or undefined if there is nothing to remove
   */
  cut(beforeMs: number): number | undefined
  /** Task in which the intent or payment began. */
  findTask(link: { kind: 'intent' | 'payment'; id: string }): CurrentTask | undefined
  records: TimelineRepository
  /** Newest entry known to this process, regardless of the contents of the file. */
  head(): Head | undefined
  close(): Promise<void>
}

type Options = {
  /** `agent.sqlite` */
  database: Database
  /** Source of the task that new entries join. Defaults to none. */
  tasks?: Pick<TaskContext, 'current'>
  /** File that stores the head outside the database. */
  headPath: string
  now: () => number
  onAppended: (sequence: number) => void
  log: Log
}

export function createTimeline({ database, tasks, headPath, now, onAppended, log }: Options): Timeline {
  const records = createTimelineRepository(database)
  let head = readFirstHead(records, headPath)
  const headStore = createHeadFile({ file: headPath, databaseFile: database.name, log })
  // Entries recorded within a caller's transaction. A rollback drops them.
  let waitingEntries: WaitingEntry[] = []

  const append = (entries: readonly WaitingEntry[], also?: () => void): void => {
    const written = records.atomically(() => {
      let last = head
      // Rows inserted by tampering remain, but do not continue the chain.
      let sequence = Math.max(last?.sequence ?? 0, records.lastSequence())
      for (const waiting of entries) {
        sequence += 1
        const row = truncateEntry(addTask(waiting, records), {
          sequence,
          previousHash: last?.hash ?? genesisHash,
          nowMs: now(),
        })
        records.add(row)
        last = toHead(row)
      }
      also?.()
      return last
    })
    if (!written || written === head) return
    head = written
    headStore.keep(written)
    onAppended(written.sequence)
  }

  const writeWaiting = (): void => {
    const entries = waitingEntries
    waitingEntries = []
    for (const waiting of entries) {
      try {
        append([waiting])
      } catch (error) {
        log.error('failed to write an activity entry', { kind: waiting.entry.kind, error })
      }
    }
  }

  return {
    record(entry) {
      waitingEntries.push({ entry, present: tasks?.current() })
      // Transactions are synchronous, so this one has ended when the microtask runs.
      if (database.inTransaction) queueMicrotask(writeWaiting)
      else writeWaiting()
    },
    follow(accountId, { entries, sequence }) {
      if (database.inTransaction) throw new Error('The log must be written in its own transaction.')
      writeWaiting()
      append(
        entries.map((entry) => ({ entry, present: undefined })),
        () => records.setFollowed(accountId, sequence),
      )
    },
    cut(beforeMs) {
      writeWaiting()
      const through = (records.firstSince(beforeMs) ?? records.lastSequence() + 1) - 1
      const first = records.firstSequence()
      const last = records.find(through)
      if (!last || through < first) return undefined
      append([{ entry: cutEntry({ first, last, beforeMs }), present: undefined }], () => records.allowRemoval(through))
      return through
    },
    findTask({ kind, id }) {
      if (!database.inTransaction) writeWaiting()
      const began = findTaskStart({ [kind]: id }, records.findFirst)
      return began && { id: began.task, links: began.links, originator: toOriginator(began.actor, began.task) }
    },
    records,
    head: () => head,
    close() {
      writeWaiting()
      return headStore.close(head)
    },
  }
}

function cutEntry({ first, last, beforeMs }: { first: number; last: TimelineRow; beforeMs: number }): NewActivityEntry {
  const count = last.sequence - first + 1
  const entries = count === 1 ? `Entry ${first} was` : `Entries ${first} to ${last.sequence} were`
  return {
    kind: cutKind,
    actor: { kind: 'system', name: 'Steward' },
    summary: `${entries} removed: older than the retention period.`,
    detail: {
      through_sequence: last.sequence,
      through_hash: last.hash,
      removed: count,
      older_than: toIsoTime(beforeMs),
    },
  }
}

/**
 * Returns the head that the chain continues from. If the end of the log was removed or replaced, or entries were
 * appended while the log was closed, the chain continues from the stored head, so that the gap remains visible.
 */
function readFirstHead(records: TimelineRepository, headPath: string): Head | undefined {
  const storedHead = readHead(headPath)
  const newest = records.find(records.lastSequence())
  if (!storedHead) return newest && toHead(newest)
  if (storedHead.closed || records.find(storedHead.sequence)?.hash !== storedHead.hash)
    return { sequence: storedHead.sequence, hash: storedHead.hash }
  return newest && toHead(newest)
}

function toHead({ sequence, hash }: TimelineRow): Head {
  return { sequence, hash }
}
