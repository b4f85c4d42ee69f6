import type { Usage } from '../canonical/canonical.ts'
import type { HoldPlan } from './reservationPlan.ts'

/** Credits as the gateway uses them. `Caller` is the payer with the API key. */
export interface InferenceCredits<Caller> {
  /**
   * Holds the maximum cost of the request. `plan` must be pure; it is called within the transaction of the hold.
   * @throws AppError or InferenceError 402 if `plan` returns undefined, 403 or 429 if the key does not allow the
   * request
   */
  reserve(request: {
    caller: Caller
    model: string
    /** Whether the model is free. Free models require no balance. */
    free: boolean
    plan: (availableMicroUsd: number) => HoldPlan | undefined
  }): Promise<InferenceReservation> | InferenceReservation
}

/** Ends exactly once, by `settle` or `release`. */
export interface InferenceReservation {
  readonly maxOutputTokens: number
  /**
   * Charges the actual cost and releases the rest.
   * @returns the charged amount in micro-dollars. It is less than the cost if the provider counts more than was held
   * and the balance is exhausted
   */
  settle(charge: InferenceCharge): Promise<number> | number
  /** Releases the hold without a charge. */
  release(): Promise<void> | void
}

export type InferenceCharge = {
  amountMicroUsd: number
  priceVersion: string
  usage: Usage
  /** Whether the provider reported no usage or incomplete usage. */
  estimated: boolean
}
