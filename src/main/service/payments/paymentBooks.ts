import type { CompleteResponse } from '#platform/http/endpoint.ts'
import { responseTtlMs } from '#platform/http/oncePerKey.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { Store, Transaction } from '#storage/store.ts'
import type { LedgerStore, LedgerWork } from '../credits/ledgerStore.ts'
import type { Settlement } from './facilitator.ts'
import {
  creditPayment,
  type NewPayment,
  type PaymentLock,
  type PaymentRow,
  paymentRepository,
  toAnswerParams,
} from './paymentRepository.ts'

/** Records each step of a payment. Promises resolve once the change is durable across a power loss. */
export type PaymentBooks = {
  find(lock: PaymentLock): Promise<PaymentRow | undefined>
  get(id: string): Promise<PaymentRow | undefined>
  findByKey(order: { accountId: AccountId; key: string }): Promise<PaymentRow | undefined>
  /** @returns false if an unfinished payment leases the resource; nothing is written then */
  open(payment: NewPayment): Promise<boolean>
  /** Whether an unfinished payment leases the resource. */
  isLeased(resource: string): Promise<boolean>
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
  store: Store
  ledger: Pick<LedgerStore, 'change'>
  now: () => number
}): PaymentBooks {
  const { store, ledger, now } = options
  const { read } = store
  const writeDurably = (work: (tx: Transaction) => Promise<void>): Promise<void> =>
    store.write(work, { isDurable: true })
  return {
    find: (lock) => paymentRepository.find(read, lock),
    get: (id) => paymentRepository.get(read, id),
    findByKey: (order) => paymentRepository.findByKey(read, { ...order, sinceMs: now() - responseTtlMs }),
    isLeased: (resource) => paymentRepository.isLeased(read, resource),
    open: (payment) => store.write((tx) => paymentRepository.add(tx, payment)),
    drop: (id) => store.write((tx) => paymentRepository.remove(tx, id)),
    settling: (id) => writeDurably((tx) => paymentRepository.setState(tx, id, 'settling')),
    recordSettlement: (id, settlement, work) =>
      writeDurably(async (tx) => {
        if (settlement.state !== 'settled') {
          await paymentRepository.setState(tx, id, settlement.state)
          if (settlement.state === 'unknown') await paymentRepository.retryAt(tx, id, now() + 5_000)
          return
        }
        const nextAtMs = work === 'waiting' ? now() + waitingMs : now()
        await paymentRepository.markSettled(tx, id, { transaction: settlement.transaction, work, nextAtMs })
      }),
    begin: (id) => writeDurably((tx) => paymentRepository.begin(tx, id)),
    done: (id, answer) => writeDurably((tx) => paymentRepository.finish(tx, id, answer)),
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
      const issueCredits: LedgerWork<void> = (it, statements) => {
        it.issue({ type: 'top_up', to, amount, note, requestKey })
        statements.run(creditPayment, 1, { id, ...toAnswerParams(answer) })
      }
      const keys = { accounts: [to], issues: true, requestKeys: [requestKey] }
      await ledger.change(keys, issueCredits, { isDurable: true })
      return refundError
    },
  }
}
