import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import type { CreditReservations, Payer } from '../../credits/creditReservations.ts'
import type { InferenceCredits } from './inferenceCredits.ts'
import type { HoldPlan } from './reservationPlan.ts'

/** Adapts the ledger's reservations to the gateway. */
export function createLedgerCredits({ reserve }: Pick<CreditReservations, 'reserve'>): InferenceCredits<Payer> {
  return {
    async reserve({ caller: { accountId, keyId }, model, plan }) {
      let hold: HoldPlan | undefined
      const worstCaseMicroUsd = (spendable: MicroUsd): MicroUsd | undefined => {
        hold = plan(spendable)
        return hold && toMicroUsd(hold.amountMicroUsd)
      }
      const reservation = await reserve({ accountId, keyId, model, worstCaseMicroUsd })
      if (!hold) throw new Error('The ledger has an unexpected hold.')
      return {
        maxOutputTokens: hold.maxOutputTokens,
        async settle({ amountMicroUsd, estimated, priceVersion, usage }) {
          const details = {
            price_version: priceVersion,
            input_tokens: usage.input,
            cache_read_tokens: usage.cacheRead,
            cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
          }
          const amount = toMicroUsd(amountMicroUsd)
          const { chargedMicroUsd } = await reservation.settle({ amountMicroUsd: amount, estimated, details })
          return chargedMicroUsd
        },
        release: () => reservation.release(),
      }
    },
  }
}
