import {
  AccountActivityType,
  type ActivityBy,
  ActivityType,
  accountActivitiesKept,
  parseActivityBy,
} from '../../../shared/contract/activity.ts'
import { TaskId } from '../../../shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type AccountActivityRecord = {
  /** Of the account: from 1, without gaps. */
  sequence: number
  id: string
  type: ActivityType | AccountActivityType
  sandboxId: SandboxId | null
  /** As it was called then. */
  sandboxName: string | null
  description: string
  by: ActivityBy
  command: string | null
  domain: string | null
  terminalId: string | null
  chargedMicroUsd: number | null
  task: TaskId | null
  atMs: number
}

/** Where in whose feed something was noted. */
export type Noted = { accountId: AccountId; sequence: number }

/** Keeps the newest of each account, also of what is gone. To be called within a transaction of the caller. */
export type AccountActivityRepository = {
  /** @returns undefined when there is no such account */
  add(accountId: AccountId, activity: Omit<AccountActivityRecord, 'sequence'>): Noted | undefined
  /** To the account that owns the sandbox. @returns undefined when there is no such sandbox */
  addOfSandbox(activity: SandboxActivity): Noted | undefined
  /** Oldest first, of those after `after`. */
  following(accountId: AccountId, after: number, limit: number): AccountActivityRecord[]
}
type SandboxActivity = Omit<AccountActivityRecord, 'sequence' | 'sandboxId' | 'sandboxName'> & { sandboxId: SandboxId }

type Row = Omit<AccountActivityRecord, 'type' | 'by' | 'task'> & {
  type: string
  task: string | null
  byKind: string
  byName: string | null
  byId: string | null
}

const Type = ActivityType.or(AccountActivityType)
const insert = `INSERT INTO account_activities
  (account_id, sequence, id, type, sandbox_id, sandbox_name, description, by_kind, by_name, by_id, command,
  domain, terminal_id, charged_micro_usd, task, at_ms)`
const next = (account: string) =>
  `(SELECT coalesce(max(sequence), 0) + 1 FROM account_activities WHERE account_id = ${account})`
const noted = 'RETURNING account_id AS accountId, sequence'

export function accountActivityRepository(database: Database): AccountActivityRepository {
  const add = database.prepare<[object], Noted>(
    `${insert} SELECT id, ${next(':accountId')}, :id, :type, :sandboxId, :sandboxName, :description, :byKind, :byName, :byId, :command,
       :domain, :terminalId, :chargedMicroUsd, :task, :atMs
     FROM accounts WHERE id = :accountId ${noted}`,
  )
  const addOfSandbox = database.prepare<[object], Noted>(
    `${insert} SELECT account_id, ${next('sandboxes.account_id')}, :id, :type, id, name, :description, :byKind, :byName, :byId, :command,
       :domain, :terminalId, :chargedMicroUsd, :task, :atMs
     FROM sandboxes WHERE id = :sandboxId ${noted}`,
  )
  const dropOld = database.prepare<[string, number]>(
    'DELETE FROM account_activities WHERE account_id = ? AND sequence <= ?',
  )
  const following = database.prepare<[string, number, number], Row>(
    `SELECT sequence, id, type, sandbox_id AS sandboxId, sandbox_name AS sandboxName, description,
       by_kind AS byKind, by_name AS byName, by_id AS byId, command,
       domain, terminal_id AS terminalId, charged_micro_usd AS chargedMicroUsd, task, at_ms AS atMs
     FROM account_activities WHERE account_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  )
  const kept = (added: Noted | undefined): Noted | undefined => {
    if (added) dropOld.run(added.accountId, added.sequence - accountActivitiesKept)
    return added
  }

  return {
    add: (accountId, activity) => kept(add.get({ accountId, ...flat(activity) })),
    addOfSandbox: (activity) => kept(addOfSandbox.get(flat(activity))),
    following: (accountId, after, limit) =>
      following.all(accountId, after, limit).map(({ byKind, byName, byId, ...row }) => ({
        ...row,
        type: Type.parse(row.type),
        task: TaskId.nullable().parse(row.task),
        by: parseActivityBy(byKind, byName, byId),
      })),
  }
}

/** SQLite binds no objects. */
export function flat<T extends { by: ActivityBy }>({ by, ...fields }: T) {
  return { ...fields, byKind: by.kind, byName: by.name, byId: by.id ?? null }
}
