import type { SandboxId } from '#shared/ids.ts'
import type { AnyParams, ParamsArgument, Statement } from '#storage/store.ts'
import type { CreditLedger } from './creditLedger.ts'

/**
 * Stores the credit ledger. Changes of many requests are committed together. Decisions are synchronous, and see the
 * ledger after all changes that were decided before.
 */
export type LedgerStore = {
  /**
   * Runs `work` in a transaction and resolves once it is committed. The commit survives a crash of the process.
   * Rejects with the error of `work`, which must not have changed anything before. `work` may run several times, so it
   * must have no effects but those on the ledger and through `statements`.
   * @param keys rows that `work` may use
   * @throws AppError `data/unwritable`, StoreUnavailableError
   */
  change<T>(keys: LedgerKeys, work: LedgerWork<T>, options?: { isDurable?: boolean }): Promise<T>
  /** Reads committed data. @throws StoreUnavailableError */
  read<T>(keys: LedgerKeys, work: (ledger: CreditLedger) => T): Promise<T>
  /** Deletes a batch of holds that ended days ago. @returns whether there may be more */
  removeEndedHolds(): Promise<boolean>
  /** Removes meters of deleted sandboxes. Safe only while no charge of them is pending, as at startup. */
  removeStaleMeters(): Promise<void>
  /** Whether all further work is rejected, because the disk failed or the store was closed. */
  readonly hasEnded: boolean
  /** Commits pending work. Later work is rejected. */
  close(): Promise<void>
}

export type LedgerWork<T> = (ledger: CreditLedger, statements: LedgerStatements) => T

/** Statements of other tables, in the transaction of the change. */
export type LedgerStatements = {
  /**
   * Runs a statement beside the changes of the ledger. Rolls back the transaction if it changes another number of rows.
   */
  run<P extends AnyParams>(statement: Statement<P>, expectedRows: number, ...params: ParamsArgument<P>): void
}

/** Rows of the ledger, by key. Accounts of the service are not named. */
export type LedgerKeys = {
  /** Accounts to debit, to credit, to hold credits of, or whose balance decides. */
  accounts?: readonly string[]
  /** Whether credits are issued or taken back. */
  issues?: boolean
  /** API keys with a daily limit. */
  keyIds?: readonly string[]
  /**
   * Holds, with their accounts and API keys. `open` and `expired` are the oldest of these, at most `maxHolds`.
   */
  holds?: readonly number[] | 'open' | 'expired'
  /** Transfers by id, with the accounts they debited and the sum of their refunds. */
  transfers?: readonly string[]
  /** Transfers by the key of their request. */
  requestKeys?: readonly (string | undefined)[]
  /** Meters of sandboxes. */
  meters?: readonly SandboxId[]
}

/** Maximum number of holds that `open` or `expired` stands for. */
export const maxHolds = 500

export function assertChangedRows(changed: number, expected: number): void {
  if (changed === expected) return
  throw new Error(`A statement beside the ledger changed ${changed} rows instead of ${expected}.`)
}
