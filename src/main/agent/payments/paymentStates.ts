import type { PaymentState } from '#shared/contract/paymentRecords.ts'

/** Allowed state transitions; others are ignored. `refused` becomes final once `paid` is known. */
const next: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  planned: ['waiting', 'signed', 'refused', 'unknown'],
  waiting: ['planned', 'signed', 'refused', 'unknown'],
  signed: ['sent', 'refused', 'unknown', 'reconciled'],
  sent: ['sent', 'settled', 'refused', 'unknown', 'reconciled'],
  unknown: ['unknown', 'refused', 'settled', 'reconciled'],
  refused: ['refused', 'reconciled'],
  settled: [],
  reconciled: [],
}

export function mayBecome(from: PaymentState, to: PaymentState): boolean {
  return next[from].includes(to)
}

export function isFinal(state: PaymentState): boolean {
  return state === 'settled' || state === 'refused' || state === 'reconciled'
}
