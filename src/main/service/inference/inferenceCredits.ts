import type { Usage } from './canonical.ts'
import type { HoldPlan } from './reservationPlan.ts'

/** Credits as the gateway uses them. `Caller` is the payer with its key. */
export interface InferenceCredits<Caller> {
  /**
   * Holds what the request can cost at most. `plan` is pure, and is asked within the transaction that holds.
   * @throws AppError or InferenceError 402 where it plans nothing, 403 or 429 where the key does not allow it
   */
  reserve(request: {
    caller: Caller
    model: string
    /** The model costs nothing: no balance is needed. */
    free: boolean
    plan: (availableMicroUsd: number) => HoldPlan | undefined
  }): Promise<Reservation> | Reservation
}

/** Ends exactly once, by one of the two. */
export interface Reservation {
  readonly maxOutputTokens: number
  /**
   * Charges what it cost, and gives the rest back.
   * @returns what was charged, in micro-dollars: less where a provider counts more than was held, and nothing else is left
   */
  settle(charge: Charge): Promise<number> | number
  /** Releases the hold; nothing was spent. */
  release(): Promise<void> | void
}

export type Charge = {
  amountMicroUsd: number
  priceVersion: string
  usage: Usage
  /** Whether the provider reported no or incomplete usage. */
  estimated: boolean
}
