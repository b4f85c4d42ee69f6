import { AppError } from '#shared/appError.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import { createAlreadyUsedError, createInFlightError } from './paymentErrors.ts'
import type { PaymentRow } from './paymentRepository.ts'
import { type BoundRequest, isSame, isSameOrder, type Order } from './toBoundRequest.ts'

/** Names, in this process, of the payments and order keys that a request or the reconciler is processing. */
export type PaymentClaims = {
  hasAny(names: readonly string[]): boolean
  /** Claims names that are not claimed yet. @returns a function that releases them */
  claim(names: readonly string[]): () => void
  /** @throws AppError `payments/in-flight` if one of the names is claimed */
  assertFree(names: readonly string[]): void
  /** @throws AppError `request/reused-key` */
  findOrderByKey(order: Order): Promise<PaymentRow | undefined>
  /** @throws AppError `payments/used` if it pays for another request */
  findPayment(bound: BoundRequest): Promise<PaymentRow | undefined>
}

export function createPaymentClaims(books: Pick<PaymentBooks, 'find' | 'findByKey'>): PaymentClaims {
  const inFlight = new Set<string>()
  const hasAny = (names: readonly string[]): boolean => names.some((it) => inFlight.has(it))
  return {
    hasAny,
    claim(names) {
      for (const name of names) inFlight.add(name)
      return () => {
        for (const name of names) inFlight.delete(name)
      }
    },
    assertFree(names) {
      if (hasAny(names)) throw createInFlightError()
    },
    async findOrderByKey(order) {
      const { accountId, key } = order
      const row = key === undefined ? undefined : await books.findByKey({ accountId, key })
      if (!row || isSameOrder(row, order)) return row
      throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
    },
    async findPayment(bound) {
      const row = await books.find(bound)
      if (row && !isSame(row, bound)) throw createAlreadyUsedError()
      return row
    },
  }
}
