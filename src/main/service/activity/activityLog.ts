import type { Log } from '#platform/logging/log.ts'
import { type ActivityBy, type ActivityType, activityLimits } from '#shared/contract/activity.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId, TerminalId } from '#shared/ids.ts'
import type { Store, Transaction } from '#storage/store.ts'
import {
  type AccountActivityRecord,
  accountActivityRepository,
  type SequencedEntry,
} from './accountActivityRepository.ts'
import {
  type ActivityRecord,
  activityRepository,
  type CommandRecord,
  type ListedActivity,
} from './activityRepository.ts'
import { type AccountEntry, createRecordedWrite, type RecordedWrite, toAccountActivity } from './recordedWrite.ts'

/**
 * Activity log of sandboxes and accounts. Recording never makes the caller's operation fail or wait, except in
 * `writeRecorded`. Entries are listed as soon as they were recorded.
 */
export type ActivityLog = {
  /** Records an activity for the sandbox and for the account that owns it. */
  note(sandboxId: SandboxId, activity: Activity): void
  recordForAccount(accountId: AccountId, activity: AccountEntry): void
  writeRecorded: RecordedWrite
  /** Records a finished command. Its text is stored with the commands and appears in the account's feed. */
  ran(sandboxId: SandboxId, command: Omit<CommandRecord, 'atMs'>): void
  /** Records a command that was aborted because its client disconnected or lost the permission to run it. */
  cut(sandboxId: SandboxId, command: string): void
  /** Newest first. */
  activities(sandboxId: SandboxId, limit: number): Promise<ListedActivity[]>
  commands(sandboxId: SandboxId, limit: number): Promise<CommandRecord[]>
  /** Lists events of the account and its sandboxes with a sequence above `after`, oldest first. */
  ofAccount(accountId: AccountId, after: number, limit: number): Promise<AccountActivityRecord[]>
  /** Writes what was recorded. Later entries are dropped. */
  close(): Promise<void>
}

export type Activity = {
  type: ActivityType
  /** Title without file contents or output, such as `Opened a terminal`. */
  description: string
  command?: string
  terminalId?: TerminalId
  /** Activities of one type with the same subject are recorded only once. */
  subject?: string
  /** Default: the current time. */
  atMs?: number
}

/** Entry that waits to be written, and what its log message names. */
type Entry = { about: Record<string, string>; add(tx: Transaction): Promise<SequencedEntry | undefined> }

/** Entries that wait to be written. More are dropped, as while the database cannot be reached. */
const maxPending = 20_000

export function createActivityLog(options: {
  store: Store
  newId: () => string
  now: () => number
  /** Called after the entry was added to the account's feed. */
  onRecorded: (entry: SequencedEntry) => void
  by: () => ActivityBy
  /** Time at which the current request started. */
  beganAtMs?: () => number | undefined
  task: () => TaskId | null
  log: Log
}): ActivityLog {
  const { store, newId, onRecorded, by, task, log } = options
  const now = () => options.beganAtMs?.() ?? options.now()
  const recording = { newId, by, task, now }
  const queue: Entry[] = []
  let pending = 0
  let isClosed = false
  let written: Promise<unknown> = Promise.resolve()
  const fail = ({ about }: Entry, error: unknown): void =>
    log.error('failed to record an activity', { ...about, error })
  const write = async (works: () => readonly Entry[]): Promise<void> => {
    let entries: readonly Entry[] = []
    try {
      const added = await store.write(async (tx) => {
        entries = works()
        const sequenced: SequencedEntry[] = []
        for (const { add } of entries) {
          const entry = await add(tx)
          if (entry) sequenced.push(entry)
        }
        return sequenced
      })
      for (const entry of added) onRecorded(entry)
    } catch (error) {
      const [first, ...others] = entries
      if (first && others.length === 0) fail(first, error)
      // One that cannot be written must not take the others with it.
      else for (const entry of entries) await write(() => [entry])
      if (!first) for (const entry of works()) fail(entry, error)
    }
  }
  /**
   * Starts the transaction at once, so that an entry of a sandbox comes before its deletion: SQLite runs transactions in
   * the order of the calls. Entries that are recorded before it begins join it.
   */
  const add = (entry: Entry): void => {
    if (isClosed || pending >= maxPending) {
      log.error('dropped an activity', { ...entry.about, pending })
      return
    }
    pending += 1
    queue.push(entry)
    if (queue.length > 1) return
    let entries: Entry[] | undefined
    const take = (): readonly Entry[] => {
      entries ??= queue.splice(0)
      return entries
    }
    const writing = write(take).finally(() => {
      pending -= take().length
    })
    written = Promise.all([written, writing])
  }
  const note: ActivityLog['note'] = (
    sandboxId,
    { command, terminalId = null, subject = null, atMs = now(), ...fields },
  ) => {
    const entry: ActivityRecord = {
      ...fields,
      id: newId(),
      sandboxId,
      subject,
      by: by(),
      command: command === undefined ? null : cutText(command),
      ...{ domain: null, terminalId, chargedMicroUsd: null, task: task() },
      atMs,
    }
    add({ about: { sandboxId }, add: (tx) => activityRepository.add(tx, entry) })
  }

  return {
    note,
    recordForAccount(accountId, entry) {
      const activity = toAccountActivity(entry, recording)
      add({ about: { accountId }, add: (tx) => accountActivityRepository.add(tx, accountId, activity) })
    },
    writeRecorded: createRecordedWrite({ ...recording, store, onRecorded }),
    ran(sandboxId, { command, exitCode, durationMs }) {
      const whole = Math.max(0, Math.round(durationMs))
      const record = { command: cutText(command), exitCode, durationMs: whole, atMs: options.now() }
      const addCommand = async (tx: Transaction): Promise<undefined> => {
        await activityRepository.addCommand(tx, sandboxId, record)
      }
      add({ about: { sandboxId }, add: addCommand })
      note(sandboxId, {
        type: 'command.run',
        description: `Ran a command: exit code ${exitCode} after ${formatDuration(whole)}.`,
        command,
      })
    },
    cut(sandboxId, command) {
      note(sandboxId, { type: 'command.run', description: 'Ran a command, which was ended with its request.', command })
    },
    async activities(sandboxId, limit) {
      await written
      return activityRepository.list(store.read, sandboxId, limit)
    },
    async commands(sandboxId, limit) {
      await written
      return activityRepository.listCommands(store.read, sandboxId, limit)
    },
    async ofAccount(accountId, after, limit) {
      await written
      return accountActivityRepository.listAfter(store.read, accountId, after, limit)
    },
    async close() {
      isClosed = true
      await written
    },
  }
}

function formatDuration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Truncates text to the stored size without splitting a character. */
export function cutText(text: string): string {
  const bytes = Buffer.from(text)
  let end = Math.min(bytes.length, activityLimits.commandBytes)
  // bytes 10xxxxxx continue a character
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
