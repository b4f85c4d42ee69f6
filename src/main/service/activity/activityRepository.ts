import { type ActivityBy, ActivityType, activityLimits } from '#shared/contract/activity.ts'
import type { SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'
import {
  type AccountActivityRecord,
  accountActivityRepository,
  byColumns,
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

const newestFirst = 'WHERE sandbox_id = @sandboxId ORDER BY at_ms DESC, sequence DESC'
const ifSandboxExists = 'WHERE EXISTS (SELECT 1 FROM sandboxes WHERE id = @sandboxId)'
const defineTrim = (table: 'sandbox_activities' | 'sandbox_commands') =>
  defineStatement<Params<'sandboxId'>>(
    `DELETE FROM ${table} WHERE sandbox_id = @sandboxId AND (at_ms, sequence) <=
       (SELECT at_ms, sequence FROM ${table} ${newestFirst} LIMIT 1 OFFSET ${activityLimits.maxStored})`,
  )

export const activityStatements = {
  add: defineStatement<Params<keyof RowOf<typeof activities>>>(
    activities.insertFrom(`${ifSandboxExists} ON CONFLICT DO NOTHING`),
  ),
  addCommand: defineStatement<Params<keyof CommandRecord | 'sandboxId'>>(
    commands.insertFrom(ifSandboxExists, { sandbox_id: '@sandboxId' }),
  ),
  list: defineStatement<Params<'sandboxId' | 'limit'>>(
    `SELECT ${listedActivities.selection()} FROM sandbox_activities ${newestFirst} LIMIT @limit`,
  ).withRows((row) => withBy(listedActivities.fromRow(row))),
  listCommands: defineStatement<Params<'sandboxId' | 'limit'>>(
    `SELECT ${commands.selection()} FROM sandbox_commands ${newestFirst} LIMIT @limit`,
  ).withRows(commands.fromRow),
  trim: defineTrim('sandbox_activities'),
  trimCommands: defineTrim('sandbox_commands'),
}

/** The newest activities and commands of each sandbox. Drops entries of a sandbox that is deleted concurrently. */
export const activityRepository = {
  /** Adds an activity to a sandbox and to its account. @returns undefined if the activity was dropped */
  async add(tx: Transaction, activity: ActivityRecord): Promise<SequencedEntry | undefined> {
    const { command, domain, terminalId, chargedMicroUsd, task, ...ofSandbox } = activity
    if ((await tx.run(activityStatements.add, activities.params(withByColumns(ofSandbox)))) === 0) return undefined
    await tx.run(activityStatements.trim, { sandboxId: activity.sandboxId })
    const { subject: _, ...ofAccount } = activity
    return accountActivityRepository.addOfSandbox(tx, ofAccount)
  },
  async addCommand(tx: Transaction, sandboxId: SandboxId, command: CommandRecord): Promise<void> {
    await tx.run(activityStatements.addCommand, { ...commands.params(command), sandboxId })
    await tx.run(activityStatements.trimCommands, { sandboxId })
  },
  /** Newest first. */
  list: (query: Query, sandboxId: SandboxId, limit: number): Promise<ListedActivity[]> =>
    query.all(activityStatements.list, { sandboxId, limit }),
  /** Newest first. */
  listCommands: (query: Query, sandboxId: SandboxId, limit: number): Promise<CommandRecord[]> =>
    query.all(activityStatements.listCommands, { sandboxId, limit }),
}
