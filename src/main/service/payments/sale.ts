import type { AppError } from '#shared/appError.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { AnyCall } from '../base/endpoint.ts'

/**
 * Route that is paid for by x402.
 *
 * @template P purchased product, as JSON: it is stored with the payment, and is the only input of `fulfil` and
 * `recover`
 */
export type Sale<R extends Route, P> = {
  /** Whether discovery lists it. Default: true. */
  isOffered?: boolean
  /** Returns the account of the payment, which is credited if the work fails. @throws AppError if there is none */
  account(input: Parsed<R>, call: AnyCall): AccountId
  /**
   * Returns the price. Not called again for a payment that settled. @throws AppError if it cannot be bought, before the
   * payment
   */
  quote(input: Parsed<R>, call: AnyCall): Quote<P> | Promise<Quote<P>>
  /**
   * Checks right before settlement, with the resource leased, that the purchase can still be delivered.
   * @throws AppError where it cannot: nothing is settled
   */
  assertDeliverable?(purchase: P, call: AnyCall): void | Promise<void>
  /** @throws whatever failed: the payer is credited then, unless it is an `UnclearWork` */
  fulfil(paid: Paid<P>): Answer<R> | Promise<Answer<R>>
  /**
   * Recovers work interrupted by a crash at any point: returns its response if it was done or can be completed now.
   * @returns undefined if nothing was done and never will be, so that the payer is credited
   * @throws if that cannot be determined; the caller retries later
   */
  recover(paid: Paid<P>): Answer<R> | undefined | Promise<Answer<R> | undefined>
}

export type Quote<P> = {
  amount: MicroUsd
  /** Shown to the payer. */
  description: string
  purchase: P
  /** Absent for purchases that any number of requests may make at once. */
  resource?: SoldResource
  /** Sandbox that the purchase leads to. It is not deleted from before the settlement until the end of the work. */
  sandboxId?: SandboxId | undefined
}

/** Resource of one order at a time. The order leases it before settlement, until its work ends. */
export type SoldResource = {
  /** Unique across operations: `domain:example.com`. */
  name: string
  /** Creates the error for concurrent orders of it, which are rejected unpaid. */
  busyError: () => AppError
}

export type Paid<P> = {
  /** Id of the payment, usable as an idempotency key. */
  id: string
  payer: string
  accountId: AccountId
  amount: MicroUsd
  transaction: string
  purchase: P
}
