import { type ActivityBy, ActivityType, activityLimits } from '#shared/contract/activity.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'
import {
  type AccountActivityRecord,
  type AccountActivityRepository,
  byColumns,
  createAccountActivityRepository,
  type SequencedEntry,
  withBy,
  withByColumns,
} from './accountActivityRepository.ts'

const listedColumns = {
  id: text(),
  type: text(ActivityType.parse),
  description: text(),
  ...byColumns,
  atMs: number(),
}
const listedActivities = defineTable('sandbox_activities', listedColumns)
const activities = defineTable('sandbox_activities', {
  ...listedColumns,
  sandboxId: text<SandboxId>(),
  /** A sandbox has at most one activity of a type with this subject. */
  subject: nullable(text()),
})
const commands = defineTable('sandbox_commands', {
  command: text(),
  exitCode: number(),
  durationMs: number(),
  atMs: number(),
})

export type ListedActivity = Omit<RowOf<typeof listedActivities>, keyof typeof byColumns> & { by: ActivityBy }
export type CommandRecord = RowOf<typeof commands>
export type ActivityRecord = ListedActivity &
  Pick<RowOf<typeof activities>, 'sandboxId' | 'subject'> &
  /** Columns of the account's activities. The commands of a sandbox are listed separately. */
  Pick<AccountActivityRecord, 'command' | 'domain' | 'terminalId' | 'chargedMicroUsd' | 'task'>

/**
 * Stores the newest activities and commands of each sandbox. Drops entries of a sandbox that is deleted concurrently.
 */
export type ActivityRepository = {
  /** Adds an activity to a sandbox and to its account. @returns undefined if the activity was dropped */
  addActivity(activity: ActivityRecord): SequencedEntry | undefined
  addToAccount(accountId: AccountId, activity: Omit<AccountActivityRecord, 'sequence'>): SequencedEntry | undefined
  ofAccount: AccountActivityRepository['following']
  addCommand(sandboxId: SandboxId, command: CommandRecord): void
  /** Newest first. */
  activities(sandboxId: SandboxId, limit: number): ListedActivity[]
  /** Newest first. */
  commands(sandboxId: SandboxId, limit: number): CommandRecord[]
}

const newestFirst = 'WHERE sandbox_id = @sandboxId ORDER BY at_ms DESC, sequence DESC'
const ifSandboxExists = 'WHERE EXISTS (SELECT 1 FROM sandboxes WHERE id = @sandboxId)'

export function createActivityRepository(database: Database): ActivityRepository {
  const addActivity = database.prepare<[Params<keyof RowOf<typeof activities>>]>(
    activities.insertFrom(`${ifSandboxExists} ON CONFLICT DO NOTHING`),
  )
  const addCommand = database.prepare<[Params<keyof CommandRecord | 'sandboxId'>]>(
    commands.insertFrom(ifSandboxExists, { sandbox_id: '@sandboxId' }),
  )
  const listActivities = database.prepare<[Params<'sandboxId' | 'limit'>], StoredRow>(
    `SELECT ${listedActivities.selection()} FROM sandbox_activities ${newestFirst} LIMIT @limit`,
  )
  const listCommands = database.prepare<[Params<'sandboxId' | 'limit'>], StoredRow>(
    `SELECT ${commands.selection()} FROM sandbox_commands ${newestFirst} LIMIT @limit`,
  )
  const account = createAccountActivityRepository(database)
  const prepareTrim = (table: 'sandbox_activities' | 'sandbox_commands') =>
    database.prepare<[Params<'sandboxId'>]>(
      `DELETE FROM ${table} WHERE sandbox_id = @sandboxId AND (at_ms, sequence) <=
         (SELECT at_ms, sequence FROM ${table} ${newestFirst} LIMIT 1 OFFSET ${activityLimits.maxStored})`,
    )
  const trimActivities = prepareTrim('sandbox_activities')
  const trimCommands = prepareTrim('sandbox_commands')

  return {
    addActivity: database.transaction((activity: ActivityRecord) => {
      const { command, domain, terminalId, chargedMicroUsd, task, ...ofSandbox } = activity
      if (addActivity.run(activities.params(withByColumns(ofSandbox))).changes === 0) return undefined
      trimActivities.run({ sandboxId: activity.sandboxId })
      const { subject: _, ...ofAccount } = activity
      return account.addOfSandbox(ofAccount)
    }),
    addToAccount: database.transaction(account.add),
    ofAccount: account.following,
    addCommand: database.transaction((sandboxId: SandboxId, command: CommandRecord) => {
      addCommand.run({ ...commands.params(command), sandboxId })
      trimCommands.run({ sandboxId })
    }),
    activities: (sandboxId, limit) =>
      listActivities.all({ sandboxId, limit }).map((row) => withBy(listedActivities.fromRow(row))),
    commands: (sandboxId, limit) => listCommands.all({ sandboxId, limit }).map(commands.fromRow),
  }
}
