import { type ActivityBy, ActivityType, activityLimits, parseActivityBy } from '../../../shared/contract/activity.ts'
import type { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import {
  type AccountActivityRecord,
  type AccountActivityRepository,
  accountActivityRepository,
  flat,
  type Noted,
} from './accountActivityRepository.ts'

export type ActivityRecord = {
  id: string
  sandboxId: SandboxId
  type: ActivityType
  /** A sandbox has at most one activity of this type with it. */
  subject: string | null
  description: string
  by: ActivityBy
  /** For the feed of the account alone: the sandbox lists its commands beside this. */
  command: string | null
  atMs: number
} & Pick<AccountActivityRecord, 'domain' | 'terminalId' | 'chargedMicroUsd' | 'task'>

export type CommandRecord = { command: string; exitCode: number; durationMs: number; atMs: number }

/** Keeps the newest of each sandbox. What is about a sandbox that is deleted meanwhile is dropped. */
export type ActivityRepository = {
  /** Also to the feed of its account. @returns where there; undefined when it was dropped */
  addActivity(activity: ActivityRecord): Noted | undefined
  /** To the feed of an account alone. */
  addToAccount(accountId: AccountId, activity: Omit<AccountActivityRecord, 'sequence'>): Noted | undefined
  ofAccount: AccountActivityRepository['following']
  addCommand(sandboxId: SandboxId, command: CommandRecord): void
  /** Newest first. */
  activities(sandboxId: SandboxId, limit: number): ListedActivity[]
  commands(sandboxId: SandboxId, limit: number): CommandRecord[]
}
export type ListedActivity = Pick<ActivityRecord, 'id' | 'type' | 'description' | 'by' | 'atMs'>

type ActivityRow = Omit<ListedActivity, 'type' | 'by'> & {
  type: string
  byKind: string
  byName: string | null
  byId: string | null
}
type Table = 'sandbox_activities' | 'sandbox_commands'

const newestFirst = 'WHERE sandbox_id = ? ORDER BY at_ms DESC, sequence DESC'
const ifThere = 'WHERE EXISTS (SELECT 1 FROM sandboxes WHERE id = :sandboxId)'

export function activityRepository(database: Database): ActivityRepository {
  const addActivity = database.prepare(
    `INSERT INTO sandbox_activities (id, sandbox_id, type, subject, description, by_kind, by_name, by_id, at_ms)
     SELECT :id, :sandboxId, :type, :subject, :description, :byKind, :byName, :byId, :atMs ${ifThere} ON CONFLICT DO NOTHING`,
  )
  const addCommand = database.prepare(
    `INSERT INTO sandbox_commands (sandbox_id, command, exit_code, duration_ms, at_ms)
     SELECT :sandboxId, :command, :exitCode, :durationMs, :atMs ${ifThere}`,
  )
  const activities = database.prepare<[string, number], ActivityRow>(
    `SELECT id, type, description, by_kind AS byKind, by_name AS byName, by_id AS byId, at_ms AS atMs FROM sandbox_activities ${newestFirst} LIMIT ?`,
  )
  const commands = database.prepare<[string, number], CommandRecord>(
    `SELECT command, exit_code AS exitCode, duration_ms AS durationMs, at_ms AS atMs
     FROM sandbox_commands ${newestFirst} LIMIT ?`,
  )
  const account = accountActivityRepository(database)
  const dropOld = (table: Table) => {
    const drop = database.prepare<[string]>(
      `DELETE FROM ${table} WHERE sequence IN
         (SELECT sequence FROM ${table} ${newestFirst} LIMIT -1 OFFSET ${activityLimits.kept})`,
    )
    return (sandboxId: SandboxId) => void drop.run(sandboxId)
  }
  const dropActivities = dropOld('sandbox_activities')
  const dropCommands = dropOld('sandbox_commands')

  return {
    addActivity: database.transaction((activity: ActivityRecord) => {
      const { command, domain, terminalId, chargedMicroUsd, task, ...listed } = activity
      if (addActivity.run(flat(listed)).changes === 0) return undefined
      dropActivities(activity.sandboxId)
      const { subject: _, ...told } = activity
      return account.addOfSandbox(told)
    }),
    addToAccount: database.transaction(account.add),
    ofAccount: account.following,
    addCommand: database.transaction((sandboxId: SandboxId, command: CommandRecord) => {
      addCommand.run({ sandboxId, ...command })
      dropCommands(sandboxId)
    }),
    activities: (sandboxId, limit) =>
      activities.all(sandboxId, limit).map(({ byKind, byName, byId, ...row }) => ({
        ...row,
        type: ActivityType.parse(row.type),
        by: parseActivityBy(byKind, byName, byId),
      })),
    commands: (sandboxId, limit) => commands.all(sandboxId, limit),
  }
}
