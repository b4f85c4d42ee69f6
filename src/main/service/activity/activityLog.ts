import type { Log } from '#platform/log.ts'
import {
  type AccountActivityType,
  type ActivityBy,
  type ActivityType,
  activityLimits,
} from '#shared/contract/activity.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId, TerminalId } from '#shared/ids.ts'
import type { AccountActivityRecord, SequencedEntry } from './accountActivityRepository.ts'
import type { ActivityRepository, CommandRecord, ListedActivity } from './activityRepository.ts'

/** Log of sandbox events. Recording never fails the caller's work. */
export type ActivityLog = {
  /** For the sandbox and for the account that owns it. */
  note(sandboxId: SandboxId, activity: Activity): void
  /** For the account alone. */
  recordForAccount(accountId: AccountId, activity: AccountEntry): void
  /** Records a command that has ended. Its text is stored with the commands, and appears in the account's feed. */
  ran(sandboxId: SandboxId, command: Omit<CommandRecord, 'atMs'>): void
  /** A command that was ended because its client left or may no longer run it. */
  cut(sandboxId: SandboxId, command: string): void
  /** Newest first. */
  activities(sandboxId: SandboxId, limit: number): ListedActivity[]
  commands(sandboxId: SandboxId, limit: number): CommandRecord[]
  /** Lists events of the account and its sandboxes after `after`, oldest first. */
  ofAccount(accountId: AccountId, after: number, limit: number): AccountActivityRecord[]
}

export type AccountEntry = {
  type: AccountActivityType
  /** One sentence without keys, tokens or contents. */
  description: string
  sandbox?: { id: SandboxId; name: string }
  domain?: string
  /** Credits charged. */
  chargedMicroUsd?: number
  /** Requester and task of an entry that is recorded after its request. Default: those of the current request. */
  origin?: { by: ActivityBy; task: TaskId | null }
}

export type Activity = {
  type: ActivityType
  /** Title without contents of files or output: `Opened a terminal`. */
  description: string
  /** Command that was run. */
  command?: string
  terminalId?: TerminalId
  /** With a subject, the activity is recorded only once. */
  subject?: string
  /** Absent is now. */
  atMs?: number
}

export function createActivityLog(options: {
  records: ActivityRepository
  newId: () => string
  now: () => number
  /** Called once the entry is in the account's feed. */
  onRecorded: (entry: SequencedEntry) => void
  /** Returns the actor of entries recorded now. */
  by: () => ActivityBy
  /** Time at which the present request began. */
  beganAtMs?: () => number | undefined
  /** Returns the task of entries recorded now. */
  task: () => TaskId | null
  log: Log
}): ActivityLog {
  const { records, newId, onRecorded, by, task, log } = options
  const now = () => options.beganAtMs?.() ?? options.now()
  const store = (about: Record<string, string>, keep: () => SequencedEntry | undefined): void => {
    try {
      const entry = keep()
      if (entry) onRecorded(entry)
    } catch (error) {
      log.error('an activity could not be noted', { ...about, error })
    }
  }
  const note: ActivityLog['note'] = (
    sandboxId,
    { command, terminalId = null, subject = null, atMs = now(), ...fields },
  ) =>
    store({ sandboxId }, () =>
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
    recordForAccount: (accountId, { type, description, sandbox, domain = null, chargedMicroUsd = null, origin }) =>
      store({ accountId }, () =>
        records.addToAccount(accountId, {
          id: newId(),
          type,
          sandboxId: sandbox?.id ?? null,
          sandboxName: sandbox?.name ?? null,
          description,
          by: origin ? origin.by : by(),
          command: null,
          ...{ domain, terminalId: null, chargedMicroUsd, task: origin ? origin.task : task() },
          atMs: now(),
        }),
      ),
    ran(sandboxId, { command, exitCode, durationMs }) {
      const whole = Math.max(0, Math.round(durationMs))
      store({ sandboxId }, () => {
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

/** Truncates to whole characters within the stored size. */
export function cutText(text: string): string {
  const bytes = Buffer.from(text)
  let end = Math.min(bytes.length, activityLimits.commandBytes)
  // 10xxxxxx continues a character.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
