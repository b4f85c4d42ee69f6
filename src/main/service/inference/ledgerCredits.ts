import type { InferenceCredits } from './inferenceCredits.ts'
import { InferenceError } from './inferenceError.ts'
import type { Held } from './reservationPlan.ts'

/** What the interface asks for before a request is taken, in micro-dollars. */
const leastBalance = 100_000

/** The ledger of credits, as it holds and settles. Whoever pays is told by account and key. */
export type Ledger = {
  reserve(request: {
    accountId: string
    keyId: string | undefined
    model: string
    worstCaseMicroUsd: (spendableMicroUsd: number) => number
  }): Promise<{
    settle(charge: {
      amountMicroUsd: number
      estimated: boolean
      details: Readonly<Record<string, string | number>>
    }): Promise<unknown>
    release(): Promise<void>
  }>
}

export function ledgerCredits(ledger: Ledger): InferenceCredits<{ accountId: string; keyId: string | undefined }> {
  return {
    async reserve({ caller, model, free, plan }) {
      let held: Held | undefined
      const reservation = await ledger.reserve({
        accountId: caller.accountId,
        keyId: caller.keyId,
        model,
        worstCaseMicroUsd(spendable) {
          held = free || spendable >= leastBalance ? plan(spendable) : undefined
          if (!held) throw insufficient(spendable)
          return held.amountMicroUsd
        },
      })
      if (!held) throw new Error('The ledger held an amount that it did not ask for.')
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
          await reservation.settle({ amountMicroUsd, estimated, details })
        },
        release: () => reservation.release(),
      }
    },
  }
}

function insufficient(spendableMicroUsd: number): InferenceError {
  const cents = Math.max(0, Math.floor(spendableMicroUsd / 10_000))
  return new InferenceError('credits', 'Insufficient credits', {
    detail: `Minimum balance of 10 cents required. Current balance: ${cents} cents.`,
    reason: 'insufficient_credits',
  })
}
