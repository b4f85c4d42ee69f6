import type { AccountId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { GroupCommit } from '#storage/groupCommit.ts'
import type { CreditHistory } from './creditHistory.ts'
import type { CreditLedger, KeyLimit } from './creditLedger.ts'
import type { AccountBalance, TransferRow } from './ledgerRepository.ts'

/** What people do with their credits. What it resolves with survives a power cut. */
export type Credits = {
  balance(accountId: AccountId): AccountBalance
  history: CreditHistory
  /** What a key with a daily limit has spent in this day of UTC. */
  spentToday(keyId: string): number
  /** @throws AppError as the ledger, `data/unwritable` */
  transfer(request: Asked & { from: AccountId; to: AccountId; amount: MicroUsd; key: KeyLimit | undefined }): Done
  /** @throws AppError as the ledger, `data/unwritable` */
  grant(request: Asked & { by: AccountId; to: AccountId; amount: MicroUsd }): Done
  /** @throws AppError as the ledger, `data/unwritable` */
  adjust(request: Asked & { by: AccountId; to: AccountId; direction: 'up' | 'down'; amount: MicroUsd }): Done
  /** @throws AppError as the ledger, `data/unwritable` */
  refund(request: Asked & { by: AccountId; transactionId: string; amount: MicroUsd | undefined }): Done
}

/** `idempotencyKey`: of the caller, for whom a repetition changes nothing, also when its first answer was lost. */
type Asked = { note: string; idempotencyKey: string | undefined }
type Done = Promise<TransferRow>

export function credits(given: {
  ledger: CreditLedger
  commits: Pick<GroupCommit, 'flushed'>
  history: CreditHistory
}): Credits {
  const { ledger, commits, history } = given
  return {
    balance: ledger.balance,
    history,
    spentToday: ledger.spentToday,
    transfer: ({ from, idempotencyKey, ...given }) =>
      commits.flushed(() => ledger.transfer({ ...given, from, requestKey: requestKey(from, idempotencyKey) })),
    grant: ({ by, idempotencyKey, ...given }) =>
      commits.flushed(() => ledger.issue({ ...given, type: 'grant', requestKey: requestKey(by, idempotencyKey) })),
    adjust: ({ by, idempotencyKey, ...given }) =>
      commits.flushed(() => ledger.adjust({ ...given, requestKey: requestKey(by, idempotencyKey) })),
    refund: ({ by, idempotencyKey, ...given }) =>
      commits.flushed(() => ledger.refund({ ...given, requestKey: requestKey(by, idempotencyKey) })),
  }
}

function requestKey(accountId: AccountId, key: string | undefined): string | undefined {
  return key === undefined ? undefined : `${accountId} ${key}`
}
