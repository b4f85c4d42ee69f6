import type { PaidResponse, Payment, PaymentId, PaymentState } from '#shared/contract/paymentRecords.ts'
import { createEmitter } from '#shared/emitter.ts'
import { toIsoTime } from '#shared/time.ts'
import type { PaymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import { describePaymentState, toTransactionUrl } from './describePayment.ts'
import type { PaymentPayload } from './paymentPayload.ts'
import type { PaymentRecord, PaymentRepository, StoredPayment } from './paymentRepository.ts'
import { canTransition } from './paymentStates.ts'

export type PaymentChange = Partial<
  Pick<
    PaymentRecord,
    'paid' | 'error' | 'transaction' | 'receipt' | 'reconciled_by' | 'signature_sha256' | 'valid_until'
  >
> & {
  payload?: PaymentPayload
  /** Settled amount of an `upto` payment. Defaults to the signed amount. */
  settledMicroUsd?: number
  attempts?: number
  nextAtMs: number | null
  answer?: PaidResponse
}

/**
 * Single writer of payments: each step is stored before anything depends on it. The reservation of a payment is
 * committed or released in the transaction that stores its outcome.
 */
export type PaymentJournal = {
  /** Must be called in the transaction that stores the intent. */
  add(payment: StoredPayment): void
  /** @returns the changed payment, or undefined if the transition is not allowed and nothing changed */
  transition(id: PaymentId, state: PaymentState, change: PaymentChange): StoredPayment | undefined
  /** @param listener called after each change is committed */
  subscribe(listener: (changed: { payment: StoredPayment; from: PaymentState | undefined }) => void): () => void
  /** Publishes an added payment. Call it after the commit. */
  notify(payment: StoredPayment): void
}

type Options = {
  payments: PaymentRepository
  budgets: Pick<PaymentBudgetRepository, 'settle'>
  /** Settles the reservation of a payment in a program's budget, in the same transaction. */
  settleSpender?: (payment: PaymentId, settledMicroUsd: number) => void
  now: () => number
}

export function createPaymentJournal({ payments, budgets, settleSpender, now }: Options): PaymentJournal {
  const changes = createEmitter<{ payment: StoredPayment; from: PaymentState | undefined }>()

  const recordChange = (before: StoredPayment, state: PaymentState, change: PaymentChange): StoredPayment => {
    const { payload, attempts, nextAtMs, answer, settledMicroUsd, ...fields } = change
    const timestamp = toIsoTime(now())
    const record: PaymentRecord = { ...before.record, ...fields, state, updated_at: timestamp }
    const step = { state, detail: fields.error ?? null, at: timestamp }
    const settledAmount = Math.min(settledMicroUsd ?? record.amount_micro_usd, record.amount_micro_usd)
    const isNew = before.record.state !== state || before.record.error !== record.error
    return {
      ...before,
      record: {
        ...record,
        sentence: describePaymentState(record, record.paid === true ? String(settledAmount) : record.amount),
        transaction_url: toTransactionUrl(record.network, record.transaction),
        paid_micro_usd: record.paid === null ? null : record.paid ? settledAmount : 0,
        steps: isNew ? [...before.record.steps, step].slice(-100) : before.record.steps,
      },
      payload: before.payload ?? payload ?? null,
      attempts: attempts ?? before.attempts,
      answer: answer ?? before.answer,
      nextAtMs,
    }
  }

  return {
    add: payments.add,
    transition(id, state, change) {
      const done = payments.atomically(() => {
        const before = payments.find(id)
        const from = before?.record.state
        if (!before || from === undefined || !canTransition(from, state)) return undefined
        const after = recordChange(before, state, change)
        if (!payments.change(after, from)) return undefined
        const { paid, intent_id: intentId } = after.record
        const { paid_micro_usd: settledAmount } = after.record
        if (paid !== null && intentId !== null)
          budgets.settle(intentId, paid ? 'spent' : 'void', settledAmount ?? undefined)
        if (paid !== null) settleSpender?.(id, settledAmount ?? 0)
        return { payment: after, from }
      })
      if (done) changes.emit(done)
      return done?.payment
    },
    subscribe: changes.subscribe,
    notify: (payment) => changes.emit({ payment, from: undefined }),
  }
}

/** Returns a summary without the fields of the receipt. */
export function toPaymentSummary(record: PaymentRecord): Payment {
  const {
    quote: _,
    offer: __,
    signature_sha256: ___,
    receipt: ____,
    reconciled_by: _____,
    steps: ______,
    ...payment
  } = record
  return payment
}
