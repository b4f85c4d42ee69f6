import type { AccountActivityType, ActivityBy } from '#shared/contract/activity.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Store, Transaction } from '#storage/store.ts'
import { accountActivityRepository, type NewAccountActivity, type SequencedEntry } from './accountActivityRepository.ts'

/**
 * Runs a transaction that records activities of accounts with its changes. They are announced after the commit. A
 * failure to record rolls back the transaction.
 */
export type RecordedWrite = <T>(work: (tx: Transaction, record: RecordEntry) => Promise<T>) => Promise<T>
/** Records an activity of an account in the transaction. */
export type RecordEntry = (accountId: AccountId, activity: AccountEntry) => Promise<void>

export type AccountEntry = {
  type: AccountActivityType
  /** One sentence that contains no keys, tokens or file contents. */
  description: string
  sandbox?: { id: SandboxId; name: string }
  domain?: string
  chargedMicroUsd?: number
  /** Requester and task of an entry that is recorded after its request. Default: those of the current request. */
  origin?: { by: ActivityBy; task: TaskId | null }
}

/** Requester, task and time of the current request. */
export type Recording = {
  newId: () => string
  by: () => ActivityBy
  task: () => TaskId | null
  now: () => number
}

export function createRecordedWrite(
  options: Recording & {
    store: Pick<Store, 'write'>
    /** Called after the commit, in the order of the entries. */
    onRecorded: (entry: SequencedEntry) => void
  },
): RecordedWrite {
  return async (work) => {
    const { value, added } = await options.store.write(async (tx) => {
      const added: SequencedEntry[] = []
      const value = await work(tx, async (accountId, entry) => {
        const recorded = await accountActivityRepository.add(tx, accountId, toAccountActivity(entry, options))
        if (recorded) added.push(recorded)
      })
      return { value, added }
    })
    for (const entry of added) options.onRecorded(entry)
    return value
  }
}

export function toAccountActivity(
  { type, description, sandbox, domain, chargedMicroUsd, origin }: AccountEntry,
  { newId, by, task, now }: Recording,
): NewAccountActivity {
  return {
    id: newId(),
    type,
    sandboxId: sandbox?.id ?? null,
    sandboxName: sandbox?.name ?? null,
    description,
    by: origin ? origin.by : by(),
    command: null,
    domain: domain ?? null,
    terminalId: null,
    chargedMicroUsd: chargedMicroUsd ?? null,
    task: origin ? origin.task : task(),
    atMs: now(),
  }
}
