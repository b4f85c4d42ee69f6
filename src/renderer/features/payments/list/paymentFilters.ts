import { PaymentState } from '../../../../shared/contract/paymentRecords.ts'
import type { PaymentQuery } from '../usePayments.ts'

export type PaymentFilters = { text: string; state: PaymentState | 'all'; from: string; to: string }

export const noPaymentFilters: PaymentFilters = { text: '', state: 'all', from: '', to: '' }
export const filteredStates = PaymentState.options

const dayMs = 24 * 60 * 60_000

/** Days are those of UTC, the last one whole. */
export function paymentQuery({ text, state, from, to }: PaymentFilters): PaymentQuery {
  const search = text.trim()
  return {
    ...(search !== '' && { search }),
    ...(state !== 'all' && { state }),
    ...(from !== '' && { from: new Date(from).toISOString() }),
    ...(to !== '' && { to: new Date(Date.parse(to) + dayMs).toISOString() }),
  }
}

export function isFilteredPayments(query: PaymentQuery): boolean {
  return Object.keys(query).length > 0
}
