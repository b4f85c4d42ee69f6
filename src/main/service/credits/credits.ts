import type { AccountId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { CreditHistory } from './creditHistory.ts'
import type { KeyLimit } from './keyLimits.ts'
import type { AccountBalance, TransferRow } from './ledgerRepository.ts'
import type { LedgerStore } from './ledgerStore.ts'

/** Credits of an account. Promises resolve after the change is durable across a power loss. */
export type Credits = {
  balance(accountId: AccountId): Promise<AccountBalance>
  history: CreditHistory
  /** Sums the spending of a key with a daily limit in the current UTC day. */
  sumSpentToday(keyId: string): Promise<number>
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
  ledger: Pick<LedgerStore, 'change' | 'read'>
  history: CreditHistory
}): Credits {
  const { ledger, history } = options
  const isDurable = true
  return {
    balance: (accountId) => ledger.read({ accounts: [accountId] }, (it) => it.balance(accountId)),
    history,
    sumSpentToday: (keyId) => ledger.read({ keyIds: [keyId] }, (it) => it.sumSpentToday(keyId)),
    transfer({ idempotencyKey, ...request }) {
      const requestKey = toRequestKey(request.from, idempotencyKey)
      const keyIds = request.key ? [request.key.id] : []
      const keys = { accounts: [request.from, request.to], keyIds, requestKeys: [requestKey] }
      return ledger.change(keys, (it) => it.transfer({ ...request, requestKey }), { isDurable })
    },
    grant({ by, idempotencyKey, ...request }) {
      const requestKey = toRequestKey(by, idempotencyKey)
      const keys = { accounts: [request.to], issues: true, requestKeys: [requestKey] }
      return ledger.change(keys, (it) => it.issue({ ...request, type: 'grant', requestKey }), { isDurable })
    },
    adjust({ by, idempotencyKey, ...request }) {
      const requestKey = toRequestKey(by, idempotencyKey)
      const keys = { accounts: [request.to], issues: true, requestKeys: [requestKey] }
      return ledger.change(keys, (it) => it.adjust({ ...request, requestKey }), { isDurable })
    },
    refund({ by, idempotencyKey, ...request }) {
      const requestKey = toRequestKey(by, idempotencyKey)
      const keys = { transfers: [request.transactionId], requestKeys: [requestKey] }
      return ledger.change(keys, (it) => it.refund({ ...request, requestKey }), { isDurable })
    },
  }
}

function toRequestKey(accountId: AccountId, key: string | undefined): string | undefined {
  return key === undefined ? undefined : `${accountId} ${key}`
}
