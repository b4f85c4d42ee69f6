import type { Log } from '#platform/log.ts'
import { toRequester } from '#shared/contract/requester.ts'
import { isoTime } from '#shared/time.ts'
import type { Database } from '#storage/openDatabase.ts'
import type { Note, NotedEntry } from '../base/note.ts'
import type { PresentTask, TaskContext } from '../base/taskContext.ts'
import { genesisHash } from './entryHash.ts'
import { beginning, taskedEntry, type WaitingEntry } from './entryTask.ts'
import { cutKind } from './timelineCut.ts'
import { type Head, headFile, readHead } from './timelineHead.ts'
import { type TimelineRepository, type TimelineRow, timelineRepository } from './timelineRepository.ts'
import { writtenEntry } from './writtenEntry.ts'

/** The append-only, hash-chained log of the person's side. */
export type Timeline = {
  note: Note
  /** What a service told, and how far its log was read: both or neither. @throws when they cannot be kept */
  follow(accountId: string, told: { entries: readonly NotedEntry[]; sequence: number }): void
  /**
   * Says in the log that all entries before the first one of this time are cut off, with the hash that the chain goes on
   * from. They may be removed then. @returns up to where; undefined when there is nothing to cut
   */
  cut(beforeMs: number): number | undefined
  /** The task that an intent or a payment was begun in. */
  taskOf(link: { kind: 'intent' | 'payment'; id: string }): PresentTask | undefined
  records: TimelineRepository
  /** The newest entry that this process knows of, whatever stands in the file. */
  head(): Head | undefined
  close(): Promise<void>
}

type Options = {
  /** `agent.sqlite` */
  database: Database
  /** Which task something is noted in. Absent: none. */
  tasks?: Pick<TaskContext, 'current'>
  /** Where the head is kept beside it. */
  headPath: string
  now: () => number
  onAppended: (sequence: number) => void
  log: Log
}

export function timeline({ database, tasks, headPath, now, onAppended, log }: Options): Timeline {
  const records = timelineRepository(database)
  let head = firstHead(records, headPath)
  const kept = headFile({ file: headPath, databaseFile: database.name, log })
  // What was noted inside somebody's transaction, whose end takes what it wrote back with it when it fails.
  let noted: WaitingEntry[] = []

  const append = (entries: readonly WaitingEntry[], also?: () => void): void => {
    const written = records.atomically(() => {
      let last = head
      // Rows that somebody slipped in behind our back stay where they are, and do not follow from ours.
      let sequence = Math.max(last?.sequence ?? 0, records.lastSequence())
      for (const waiting of entries) {
        sequence += 1
        const row = writtenEntry(taskedEntry(waiting, records), {
          sequence,
          previousHash: last?.hash ?? genesisHash,
          nowMs: now(),
        })
        records.add(row)
        last = headOf(row)
      }
      also?.()
      return last
    })
    if (!written || written === head) return
    head = written
    kept.keep(written)
    onAppended(written.sequence)
  }

  const writeNoted = (): void => {
    const entries = noted
    noted = []
    for (const waiting of entries) {
      try {
        append([waiting])
      } catch (failure) {
        log.error('an entry of the log could not be written', { kind: waiting.entry.kind, failure })
      }
    }
  }

  return {
    note(entry) {
      noted.push({ entry, present: tasks?.current() })
      // Transactions are synchronous: by then it has ended.
      if (database.inTransaction) queueMicrotask(writeNoted)
      else writeNoted()
    },
    follow(accountId, { entries, sequence }) {
      if (database.inTransaction) throw new Error('The log is written in transactions of its own.')
      writeNoted()
      append(
        entries.map((entry) => ({ entry, present: undefined })),
        () => records.setFollowed(accountId, sequence),
      )
    },
    cut(beforeMs) {
      writeNoted()
      const through = (records.firstSince(beforeMs) ?? records.lastSequence() + 1) - 1
      const first = records.firstSequence()
      const last = records.find(through)
      if (!last || through < first) return undefined
      append([{ entry: cutEntry({ first, last, beforeMs }), present: undefined }], () => records.allowRemoval(through))
      return through
    },
    taskOf({ kind, id }) {
      if (!database.inTransaction) writeNoted()
      const began = beginning({ [kind]: id }, records.firstOf)
      return began && { id: began.task, links: began.links, requester: toRequester(began.actor, began.task) }
    },
    records,
    head: () => head,
    close() {
      writeNoted()
      return kept.close(head)
    },
  }
}

function cutEntry({ first, last, beforeMs }: { first: number; last: TimelineRow; beforeMs: number }): NotedEntry {
  const count = last.sequence - first + 1
  const entries = count === 1 ? `Entry ${first} was` : `Entries ${first} to ${last.sequence} were`
  return {
    kind: cutKind,
    actor: { kind: 'system', name: 'Steward' },
    summary: `${entries} removed: older than the log is kept.`,
    detail: {
      through_sequence: last.sequence,
      through_hash: last.hash,
      removed: count,
      older_than: isoTime(beforeMs),
    },
  }
}

/**
 * Where the chain goes on. A log whose end was cut off or exchanged goes on from the head that was kept, so that the
 * place where entries are missing stays visible for ever. So does one to which somebody added while it was closed.
 */
function firstHead(records: TimelineRepository, headPath: string): Head | undefined {
  const kept = readHead(headPath)
  const newest = records.find(records.lastSequence())
  if (!kept) return newest && headOf(newest)
  if (kept.closed || records.find(kept.sequence)?.hash !== kept.hash)
    return { sequence: kept.sequence, hash: kept.hash }
  return newest && headOf(newest)
}

function headOf({ sequence, hash }: TimelineRow): Head {
  return { sequence, hash }
}
