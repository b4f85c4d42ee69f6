import { type MicroUsd, microUsd } from '#shared/microUsd.ts'
import type { CreditReservations, Payer } from '../credits/creditReservations.ts'
import type { InferenceCredits } from './inferenceCredits.ts'
import type { Held } from './reservationPlan.ts'

/** The ledger, as the gateway holds and settles in it. */
export function ledgerCredits({ reserve }: Pick<CreditReservations, 'reserve'>): InferenceCredits<Payer> {
  return {
    async reserve({ caller: { accountId, keyId }, model, plan }) {
      let held: Held | undefined
      const worstCaseMicroUsd = (spendable: MicroUsd): MicroUsd | undefined => {
        held = plan(spendable)
        return held && microUsd(held.amountMicroUsd)
      }
      const reservation = await reserve({ accountId, keyId, model, worstCaseMicroUsd })
      if (!held) throw new Error('The ledger held an amount that nobody planned.')
      return {
        maxOutputTokens: held.maxOutputTokens,
        async settle({ amountMicroUsd, estimated, priceVersion, usage }) {
          const details = {
            price_version: priceVersion,
            input_tokens: usage.input,
            cache_read_tokens: usage.cacheRead,
            cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
          }
          const amount = microUsd(amountMicroUsd)
          const { chargedMicroUsd } = await reservation.settle({ amountMicroUsd: amount, estimated, details })
          return chargedMicroUsd
        },
        release: () => reservation.release(),
      }
    },
  }
}
