import type { CompleteResponse } from '#platform/http/endpoint.ts'
import { responseTtlMs } from '#platform/http/oncePerKey.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import type { LedgerStore, LedgerWork } from '../credits/ledgerStore.ts'
import type { Settlement } from './facilitator.ts'
import type { NewPayment, PaymentRepository, PaymentRow } from './paymentRepository.ts'

/** Records each step of a payment. Promises resolve once the change is durable across a power loss. */
export type PaymentBooks = {
  find: PaymentRepository['find']
  get: PaymentRepository['get']
  findByKey(order: { accountId: AccountId; key: string }): PaymentRow | undefined
  /** @returns false if an unfinished payment leases the resource; nothing is written then */
  open(payment: NewPayment): Promise<boolean>
  isLeased: PaymentRepository['isLeased']
  /** Removes a payment that moved no money and never will. */
  drop(id: string): Promise<void>
  settling(id: string): Promise<void>
  /** @param work state of a settled payment's work; `waiting` if no request is pending */
  recordSettlement(id: string, settlement: Settlement, work: 'waiting' | 'begun'): Promise<void>
  begin(id: string): Promise<void>
  done(id: string, answer: CompleteResponse | undefined): Promise<void>
  /** Credits the payer with the amount, once, after the work failed. Stores the error as the response. */
  credit(payment: PaymentRow, error: AppError): Promise<AppError>
}

/** Time after which a payment is credited if its client has not retried. */
export const waitingMs = 10 * 60_000

export function createPaymentBooks(options: {
  records: PaymentRepository
  ledger: Pick<LedgerStore, 'change'>
  commits: Pick<GroupCommit, 'commit' | 'commitDurable'>
  now: () => number
}): PaymentBooks {
  const { records, ledger, commits, now } = options
  return {
    find: records.find,
    get: records.get,
    findByKey: (order) => records.findByKey({ ...order, sinceMs: now() - responseTtlMs }),
    isLeased: records.isLeased,
    open: (payment) => commits.commit(() => records.add(payment)),
    drop: (id) => commits.commit(() => records.remove(id)),
    settling: (id) => commits.commitDurable(() => records.setState(id, 'settling')),
    recordSettlement: (id, settlement, work) =>
      commits.commitDurable(() => {
        if (settlement.state !== 'settled') {
          records.setState(id, settlement.state)
          if (settlement.state === 'unknown') records.retryAt(id, now() + 5_000)
          return
        }
        const nextAtMs = work === 'waiting' ? now() + waitingMs : now()
        records.markSettled(id, { transaction: settlement.transaction, work, nextAtMs })
      }),
    begin: (id) => commits.commitDurable(() => records.begin(id)),
    done: (id, answer) => commits.commitDurable(() => records.finish(id, { work: 'done', answer })),
    async credit({ id, accountId: to, amount: atomic, transaction }, error) {
      const amount = toMicroUsd(atomic) // USDC has as many decimals as the ledger
      const refundError = new AppError(error.code, error.message, {
        cause: error,
        detail: `${error.detail === undefined ? '' : `${error.detail} `}The payment of ${formatUsd(amount, 'cents', 'down')} was added to your credits.`,
        headers: error.headers,
        fields: { ...error.fields, credited_cents: toExactCents(amount), tx_hash: transaction },
      })
      const answer = { status: refundError.status, body: JSON.stringify(refundError.toBody()) }
      const note = 'Paid for work that failed'
      const requestKey = `payment ${id}`
      const issueCredits: LedgerWork<void> = (it) => {
        it.issue({ type: 'top_up', to, amount, note, requestKey })
        records.finish(id, { work: 'credited', answer })
      }
      const keys = { accounts: [to], issues: true, requestKeys: [requestKey] }
      await ledger.change(keys, issueCredits, { isDurable: true })
      return refundError
    },
  }
}
