import { type ActivityType, activityLimits } from '../../../shared/contract/activity.ts'
import type { SandboxId } from '../../../shared/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { ActivityRepository, CommandRecord, ListedActivity } from './activityRepository.ts'

/** What happened to sandboxes. Noting never fails the work that it is about. */
export type ActivityLog = {
  note(sandboxId: SandboxId, activity: Activity): void
  /** A command that has ended. Its text is kept with the commands only. */
  ran(sandboxId: SandboxId, command: Omit<CommandRecord, 'atMs'>): void
  /** Newest first. */
  activities(sandboxId: SandboxId, limit: number): ListedActivity[]
  commands(sandboxId: SandboxId, limit: number): CommandRecord[]
}

export type Activity = {
  type: ActivityType
  /** One sentence without contents of files, output or commands. */
  description: string
  /** With it, the activity is noted once, however often it is told. */
  subject?: string
  /** Absent is now. */
  atMs?: number
}

export function activityLog(options: {
  records: ActivityRepository
  newId: () => string
  now: () => number
  log: Log
}): ActivityLog {
  const { records, newId, now, log } = options
  const kept = (sandboxId: SandboxId, keep: () => void): void => {
    try {
      keep()
    } catch (failure) {
      log.error('an activity could not be noted', { sandboxId, failure })
    }
  }
  const note: ActivityLog['note'] = (sandboxId, { type, description, subject = null, atMs = now() }) =>
    kept(sandboxId, () => records.addActivity({ id: newId(), sandboxId, type, subject, description, atMs }))

  return {
    note,
    ran(sandboxId, { command, exitCode, durationMs }) {
      const whole = Math.max(0, Math.round(durationMs))
      kept(sandboxId, () =>
        records.addCommand(sandboxId, { command: cutText(command), exitCode, durationMs: whole, atMs: now() }),
      )
      note(sandboxId, {
        type: 'command.run',
        description: `A command ended with exit code ${exitCode} after ${whole} ms.`,
      })
    },
    activities: records.activities,
    commands: records.commands,
  }
}

/** Whole characters that need at most the bytes that are kept. */
export function cutText(text: string): string {
  const bytes = Buffer.from(text)
  let end = Math.min(bytes.length, activityLimits.commandBytes)
  // 10xxxxxx goes on with a character that began before.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
