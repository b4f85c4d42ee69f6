import type { Facilitator, Settlement, SignedPayment } from '#service/payments/facilitator.ts'
import type { Refusal } from '#service/payments/paymentAuthorization.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'

type Step = (payment: SignedPayment) => Settlement | Promise<Settlement>

/** Creates a facilitator that performs one step for each settle request. The last step repeats. */
export function createScriptedFacilitator(...steps: Step[]) {
  const payments: SignedPayment[] = []
  const facilitator: Facilitator & { verdict: () => Refusal | undefined | Promise<Refusal | undefined> } = {
    network: testLedgerNetwork,
    verdict: () => undefined,
    verify: async () => facilitator.verdict(),
    async settle(payment) {
      payments.push(payment)
      const step = steps.length > 1 ? steps.shift() : steps[0]
      if (!step) throw new Error('Nobody said what becomes of it.')
      return step(payment)
    },
    close: async () => undefined,
  }
  return { facilitator, asked: payments }
}

export const transaction = `0x${'a'.repeat(64)}`
export const settles: Step = () => ({ state: 'settled', transaction })
export const unknown: Step = () => ({ state: 'unknown', message: 'The server did not respond.' })
export const refuses: Step = () => ({ state: 'failed', reason: 'insufficient_funds', message: 'Too little.' })
export const never: Step = () => new Promise(() => undefined)
