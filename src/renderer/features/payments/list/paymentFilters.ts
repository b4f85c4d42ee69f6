import { z } from 'zod'
import { PaymentState } from '#shared/contract/paymentRecords.ts'
import type { PaymentQuery } from '../usePayments.ts'

/** Day such as `2026-01-31`. Empty means unbounded. */
const Day = z.union([z.literal(''), z.iso.date()])
export const PaymentFilters = z.object({
  text: z.string(),
  state: z.enum(['all', ...PaymentState.options]),
  from: Day,
  to: Day,
})
export type PaymentFilters = z.infer<typeof PaymentFilters>

export const noPaymentFilters: PaymentFilters = { text: '', state: 'all', from: '', to: '' }
export const filteredStates = PaymentState.options

const dayMs = 24 * 60 * 60_000

/** Builds the query of the list. Days are UTC; the last day is included. */
export function toPaymentQuery({ text, state, from, to }: PaymentFilters): PaymentQuery {
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
