import type { PaymentState } from '#shared/contract/paymentRecords.ts'

/**
 * Allowed transitions of the payer's state; others are ignored. The seller tracks the same payment by
 * `SettlementState`.
 *
 * - `planned`: the offer was checked, and the intent is being evaluated or signed.
 * - `waiting`: the intent waits for the user or for the wallet.
 * - `signed`: stored with its signature, and not sent.
 * - `sent`: handed to the seller, which may have settled it. The same bytes are sent again after an interruption.
 * - `settled`: the seller returned a receipt.
 * - `refused`: by the user, a policy or the seller. Final once `paid` is known, because the seller may still settle.
 * - `unknown`: the seller returned no usable outcome. The seller and the chain are queried.
 * - `reconciled`: the outcome was unknown, and the chain determined it.
 */
const transitions: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  planned: ['waiting', 'signed', 'refused', 'unknown'],
  waiting: ['planned', 'signed', 'refused', 'unknown'],
  signed: ['sent', 'refused', 'unknown', 'reconciled'],
  sent: ['sent', 'settled', 'refused', 'unknown', 'reconciled'],
  unknown: ['unknown', 'refused', 'settled', 'reconciled'],
  refused: ['refused', 'reconciled'],
  settled: [],
  reconciled: [],
}

export function canTransition(from: PaymentState, to: PaymentState): boolean {
  return transitions[from].includes(to)
}

export function isFinal(state: PaymentState): boolean {
  return state === 'settled' || state === 'refused' || state === 'reconciled'
}
