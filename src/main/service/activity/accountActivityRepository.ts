import {
  AccountActivityType,
  type ActivityBy,
  ActivityType,
  maxAccountActivities,
  parseActivityBy,
} from '#shared/contract/activity.ts'
import { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

export const byColumns = { byKind: text(), byName: nullable(text()), byId: nullable(text()) }
type ByColumns = { byKind: string; byName: string | null; byId: string | null }

const activities = defineTable('account_activities', {
  /** Sequence within the account, from 1 without gaps. */
  sequence: number(),
  id: text(),
  type: text(ActivityType.or(AccountActivityType).parse),
  sandboxId: nullable(text<SandboxId>()),
  /** Name of the sandbox at the time of the entry. */
  sandboxName: nullable(text()),
  description: text(),
  ...byColumns,
  command: nullable(text()),
  domain: nullable(text()),
  terminalId: nullable(text()),
  chargedMicroUsd: nullable(number()),
  task: nullable(text(TaskId.parse)),
  atMs: number(),
})
type Row = RowOf<typeof activities>
export type AccountActivityRecord = Omit<Row, keyof ByColumns> & { by: ActivityBy }

export type NewAccountActivity = Omit<AccountActivityRecord, 'sequence'>
export type SequencedEntry = { accountId: AccountId; sequence: number }

type SandboxActivity = Omit<AccountActivityRecord, 'sequence' | 'sandboxId' | 'sandboxName'> & { sandboxId: SandboxId }

const nextSequence = (account: string) =>
  `(SELECT coalesce(max(sequence), 0) + 1 FROM account_activities WHERE account_id = ${account})`
const returning = 'RETURNING account_id AS "accountId", sequence'

const toSequencedEntry = (row: StoredRow): SequencedEntry => ({
  accountId: row.accountId as AccountId,
  sequence: Number(row.sequence),
})

export const accountActivityStatements = {
  add: defineStatement<Params<Exclude<keyof Row, 'sequence'> | 'accountId'>>(
    activities.insertFrom(`FROM accounts WHERE id = @accountId ${returning}`, {
      account_id: 'id',
      sequence: nextSequence('@accountId'),
    }),
  ).withRows(toSequencedEntry),
  addOfSandbox: defineStatement<Params<Exclude<keyof Row, 'sequence' | 'sandboxName'>>>(
    activities.insertFrom(`FROM sandboxes WHERE id = @sandboxId ${returning}`, {
      account_id: 'account_id',
      sequence: nextSequence('sandboxes.account_id'),
      sandbox_id: 'id',
      sandbox_name: 'name',
    }),
  ).withRows(toSequencedEntry),
  following: defineStatement<Params<'accountId' | 'after' | 'limit'>>(
    `SELECT ${activities.selection()} FROM account_activities
     WHERE account_id = @accountId AND sequence > @after ORDER BY sequence LIMIT @limit`,
  ).withRows((row) => withBy(activities.fromRow(row))),
  trim: defineStatement<Params<'accountId' | 'sequence'>>(
    'DELETE FROM account_activities WHERE account_id = @accountId AND sequence <= @sequence',
  ),
}

/** Activities of an account, the newest ones, including those of deleted resources. */
export const accountActivityRepository = {
  /** @returns undefined if the account does not exist */
  add: (tx: Transaction, accountId: AccountId, activity: NewAccountActivity): Promise<SequencedEntry | undefined> =>
    trimAfter(
      tx,
      tx.first(accountActivityStatements.add, { ...activities.params(withByColumns(activity)), accountId }),
    ),
  /** Adds an entry to the account that owns the sandbox. @returns undefined if the sandbox does not exist */
  addOfSandbox: (tx: Transaction, activity: SandboxActivity): Promise<SequencedEntry | undefined> =>
    trimAfter(tx, tx.first(accountActivityStatements.addOfSandbox, activities.params(withByColumns(activity)))),
  /** Lists activities with a sequence above `after`, oldest first. */
  listAfter: (query: Query, accountId: AccountId, after: number, limit: number): Promise<AccountActivityRecord[]> =>
    query.all(accountActivityStatements.following, { accountId, after, limit }),
}

async function trimAfter(
  tx: Transaction,
  adding: Promise<SequencedEntry | undefined>,
): Promise<SequencedEntry | undefined> {
  const added = await adding
  if (added) await tx.run(accountActivityStatements.trim, toTrimParams(added))
  return added
}

function toTrimParams({ accountId, sequence }: SequencedEntry): Params<'accountId' | 'sequence'> {
  return { accountId, sequence: sequence - maxAccountActivities }
}

export function withByColumns<T extends { by: ActivityBy }>({ by, ...fields }: T): Omit<T, 'by'> & ByColumns {
  return { ...fields, byKind: by.kind, byName: by.name, byId: by.id ?? null }
}

export function withBy<T extends ByColumns>(row: T): Omit<T, keyof ByColumns> & { by: ActivityBy } {
  const { byKind, byName, byId, ...fields } = row
  return { ...fields, by: parseActivityBy(byKind, byName, byId) }
}
