import type { PaymentState } from '#shared/contract/paymentRecords.ts'

/** What leads where. What the table does not have changes nothing. `refused` ends for good once `paid` is known. */
const next: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  planned: ['waiting', 'signed', 'refused', 'unknown'],
  waiting: ['planned', 'signed', 'refused', 'unknown'],
  signed: ['sent', 'unknown', 'reconciled'],
  sent: ['sent', 'settled', 'refused', 'unknown', 'reconciled'],
  unknown: ['unknown', 'settled', 'reconciled'],
  refused: ['refused', 'reconciled'],
  settled: [],
  reconciled: [],
}

export function mayBecome(from: PaymentState, to: PaymentState): boolean {
  return next[from].includes(to)
}

/** Nothing more comes of it that whoever asked would wait for. */
export function isFinal(state: PaymentState): boolean {
  return state === 'settled' || state === 'refused' || state === 'reconciled'
}
