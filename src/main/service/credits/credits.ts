import type { AccountId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import type { CreditHistory } from './creditHistory.ts'
import type { CreditLedger } from './creditLedger.ts'
import type { KeyLimit } from './keyLimits.ts'
import type { AccountBalance, TransferRow } from './ledgerRepository.ts'

/** Credits of an account. Promises resolve after the change is durable across a power loss. */
export type Credits = {
  balance(accountId: AccountId): AccountBalance
  history: CreditHistory
  /** Sums the spending of a key with a daily limit in the current UTC day. */
  sumSpentToday(keyId: string): number
  /** @throws AppError as the ledger, and `data/unwritable` */
  transfer(
    request: RequestFields & { from: AccountId; to: AccountId; amount: MicroUsd; key: KeyLimit | undefined },
  ): TransferResult
  /** @throws AppError as the ledger, and `data/unwritable` */
  grant(request: RequestFields & { by: AccountId; to: AccountId; amount: MicroUsd }): TransferResult
  /** @throws AppError as the ledger, and `data/unwritable` */
  adjust(
    request: RequestFields & { by: AccountId; to: AccountId; direction: 'up' | 'down'; amount: MicroUsd },
  ): TransferResult
  /** @throws AppError as the ledger, and `data/unwritable` */
  refund(
    request: RequestFields & { by: AccountId; transactionId: string; amount: MicroUsd | undefined },
  ): TransferResult
}

/**
 * `idempotencyKey`: chosen by the caller. Repeating a request with the same key changes nothing, even if the first
 * response was lost.
 */
type RequestFields = { note: string; idempotencyKey: string | undefined }
type TransferResult = Promise<TransferRow>

export function createCredits(options: {
  ledger: CreditLedger
  commits: Pick<GroupCommit, 'commitDurable'>
  history: CreditHistory
}): Credits {
  const { ledger, commits, history } = options
  return {
    balance: ledger.balance,
    history,
    sumSpentToday: ledger.sumSpentToday,
    transfer: ({ from, idempotencyKey, ...request }) =>
      commits.commitDurable(() => ledger.transfer({ ...request, from, requestKey: requestKey(from, idempotencyKey) })),
    grant: ({ by, idempotencyKey, ...request }) =>
      commits.commitDurable(() =>
        ledger.issue({ ...request, type: 'grant', requestKey: requestKey(by, idempotencyKey) }),
      ),
    adjust: ({ by, idempotencyKey, ...request }) =>
      commits.commitDurable(() => ledger.adjust({ ...request, requestKey: requestKey(by, idempotencyKey) })),
    refund: ({ by, idempotencyKey, ...request }) =>
      commits.commitDurable(() => ledger.refund({ ...request, requestKey: requestKey(by, idempotencyKey) })),
  }
}

function requestKey(accountId: AccountId, key: string | undefined): string | undefined {
  return key === undefined ? undefined : `${accountId} ${key}`
}
