import type { Log } from '#platform/logging/log.ts'
import { type ActivityBy, type ActivityType, activityLimits } from '#shared/contract/activity.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId, TerminalId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import type { AccountActivityRecord, SequencedEntry } from './accountActivityRepository.ts'
import type { ActivityRepository, CommandRecord, ListedActivity } from './activityRepository.ts'
import { type AccountEntry, createRecordedWrite, type RecordedWrite, toAccountActivity } from './recordedWrite.ts'

/** Activity log of sandboxes and accounts. Recording never makes the caller's operation fail, except in `writeRecorded`. */
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
  activities(sandboxId: SandboxId, limit: number): ListedActivity[]
  commands(sandboxId: SandboxId, limit: number): CommandRecord[]
  /** Lists events of the account and its sandboxes with a sequence above `after`, oldest first. */
  ofAccount(accountId: AccountId, after: number, limit: number): AccountActivityRecord[]
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

export function createActivityLog(options: {
  records: ActivityRepository
  store: Pick<Store, 'write'>
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
  const { records, newId, onRecorded, by, task, log } = options
  const now = () => options.beganAtMs?.() ?? options.now()
  const recording = { newId, by, task, now }
  const add = (about: Record<string, string>, keep: () => SequencedEntry | undefined): void => {
    try {
      const entry = keep()
      if (entry) onRecorded(entry)
    } catch (error) {
      log.error('failed to record an activity', { ...about, error })
    }
  }
  const note: ActivityLog['note'] = (
    sandboxId,
    { command, terminalId = null, subject = null, atMs = now(), ...fields },
  ) =>
    add({ sandboxId }, () =>
      records.addActivity({
        ...fields,
        id: newId(),
        sandboxId,
        subject,
        by: by(),
        command: command === undefined ? null : cutText(command),
        ...{ domain: null, terminalId, chargedMicroUsd: null, task: task() },
        atMs,
      }),
    )

  return {
    note,
    recordForAccount: (accountId, entry) =>
      add({ accountId }, () => records.addToAccount(accountId, toAccountActivity(entry, recording))),
    writeRecorded: createRecordedWrite({ ...recording, store: options.store, onRecorded }),
    ran(sandboxId, { command, exitCode, durationMs }) {
      const whole = Math.max(0, Math.round(durationMs))
      add({ sandboxId }, () => {
        records.addCommand(sandboxId, { command: cutText(command), exitCode, durationMs: whole, atMs: options.now() })
        return undefined
      })
      note(sandboxId, {
        type: 'command.run',
        description: `Ran a command: exit code ${exitCode} after ${formatDuration(whole)}.`,
        command,
      })
    },
    cut(sandboxId, command) {
      note(sandboxId, { type: 'command.run', description: 'Ran a command, which was ended with its request.', command })
    },
    activities: records.activities,
    commands: records.commands,
    ofAccount: records.ofAccount,
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
