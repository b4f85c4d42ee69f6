import type { IntentRecord } from '#shared/contract/intents.ts'
import type { Reservations } from '../approvals/reservations.ts'
import type { PaymentBudgetRepository, SignedEntry } from './paymentBudgetRepository.ts'
import { type PaymentBudgets, parsePayee } from './paymentBudgets.ts'

type Options = {
  records: PaymentBudgetRepository
  budgets: Pick<PaymentBudgets, 'refusal'>
  /** Reads within the transaction that stores the signature. */
  findSignature: (intentId: string) => IntentRecord['result'] | undefined
  /** Name of the connected service, whose test money is signed. */
  service: string
  now: () => number
}

/**
 * Counts every signed payment against the budgets, for each requester. A signed amount stays reserved until it is
 * known to be spent or void.
 */
export function createPaymentReservations({ records, budgets, findSignature, service, now }: Options): Reservations {
  return {
    reserve(use) {
      if (use.kind !== 'x402.authorize') return undefined
      return records.atomically(() => {
        const refusal = budgets.refusal(use)
        if (refusal) return refusal
        records.reserve({
          id: use.id,
          amountMicroUsd: Number(use.amountMicroUsd), // bounded by `refusal` above
          host: use.host ?? '',
          payee: use.scope ?? '',
          atMs: now(),
        })
        return undefined
      })
    },
    commit: (id) =>
      records.atomically(() => {
        const entry = records.sign(id, toSignedEntry(findSignature(id), service))
        if (!entry) return
        const { network, payTo } = parsePayee(entry.payee)
        records.pin({ host: entry.host, network, payTo, sinceMs: now() })
      }),
    giveBack: records.giveBack,
  }
}

function toSignedEntry(result: IntentRecord['result'] | undefined, service: string): SignedEntry | undefined {
  const authorization = result?.authorization
  if (!authorization) return undefined
  const { from, nonce, validBefore } = authorization
  return { payer: from, nonce, validBeforeMs: Number(validBefore) * 1000, service }
}

/** Combines reservations. Reserves all parts or none. */
export function combineReservations(parts: readonly Reservations[]): Reservations {
  return {
    reserve(use) {
      for (const [index, part] of parts.entries()) {
        const refusal = part.reserve(use)
        if (!refusal) continue
        for (const before of parts.slice(0, index)) before.giveBack(use.id)
        return refusal
      }
      return undefined
    },
    commit(id) {
      for (const part of parts) part.commit(id)
    },
    giveBack(id) {
      for (const part of parts) part.giveBack(id)
    },
  }
}
