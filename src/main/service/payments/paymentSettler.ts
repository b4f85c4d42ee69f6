import type { Facilitator, Settlement } from './facilitator.ts'
import { createPaymentRequiredError, type Offer } from './offer.ts'
import type { Refusal } from './paymentAuthorization.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import { createUnconfiguredError, createUnknownOutcomeError } from './paymentErrors.ts'
import type { PaymentRow } from './paymentRepository.ts'

export type PaymentSettler = {
  /** @throws AppError `payments/unconfigured` if nothing is sold */
  assertConfigured(): void
  /** @throws Error if nothing is sold */
  getNetwork(): Facilitator['network']
  /** Verifies and settles a payment that, as far as is known, has not moved any money. */
  verifyAndSettle(row: PaymentRow, terms: { offer: Offer; assertDeliverable: () => Promise<void> }): Promise<Settlement>
  /** Settles a payment again that has settled or may have settled. */
  retrySettlement(row: PaymentRow): Promise<Settlement>
}

export function createPaymentSettler(options: {
  books: Pick<PaymentBooks, 'drop' | 'settling'>
  /** Facilitator of the service. Undefined if nothing is sold. */
  facilitator: Facilitator | undefined
  onFailure: (error: unknown) => void
}): PaymentSettler {
  const { books, facilitator, onFailure } = options

  const requestSettlement = async (row: PaymentRow, { again }: { again: boolean }): Promise<Settlement> => {
    const { authorization, createdAtMs } = row
    if (facilitator?.network.id !== row.network)
      return { state: 'unknown', message: 'The payment network was changed.' }
    return facilitator.settle({ authorization, createdAtMs, again })
  }

  return {
    assertConfigured() {
      if (!facilitator) throw createUnconfiguredError()
    },
    getNetwork() {
      if (facilitator) return facilitator.network
      throw new Error('No facilitator is configured.')
    },
    async verifyAndSettle(row, { offer, assertDeliverable }) {
      const { authorization, createdAtMs } = row
      let refusal: Refusal | undefined
      try {
        refusal = await facilitator?.verify({ authorization, createdAtMs, again: false })
      } catch (error) {
        await books.drop(row.id)
        onFailure(error)
        throw createUnknownOutcomeError('The payment could not be checked. Nothing was paid.')
      }
      if (refusal) {
        await books.drop(row.id)
        throw createPaymentRequiredError(offer, refusal)
      }
      try {
        await assertDeliverable()
      } catch (error) {
        await books.drop(row.id)
        throw error
      }
      await books.settling(row.id)
      return requestSettlement(row, { again: false })
    },
    retrySettlement: (row) => requestSettlement(row, { again: true }),
  }
}
