import type { AppError } from '#shared/appError.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { AnyCall } from '../base/endpoint.ts'

/**
 * Sale of a route that is paid for by x402.
 * @template P purchased product, as JSON. It is stored with the payment, and is the only input of `fulfil` and
 * `recover`
 */
export type Sale<R extends Route, P> = {
  /** Whether discovery lists the route. Default: true. */
  isOffered?: boolean
  /** Returns the account of the payment, which is credited if the work fails. @throws AppError if there is none */
  account(input: Parsed<R>, call: AnyCall): AccountId | Promise<AccountId>
  /**
   * Returns the price. Not called again for a payment that has settled.
   * @throws AppError before payment if the product cannot be bought
   */
  quote(input: Parsed<R>, call: AnyCall): Quote<P> | Promise<Quote<P>>
  /**
   * Checks immediately before settlement, with the resource leased, that the purchase can still be delivered.
   * @throws AppError if it cannot; nothing is settled then
   */
  assertDeliverable?(purchase: P, call: AnyCall): void | Promise<void>
  /** Delivers the purchase. @throws an error, after which the payer is credited unless it is an `UnknownOutcomeError` */
  fulfil(paid: Paid<P>): Answer<R> | Promise<Answer<R>>
  /**
   * Recovers work that a crash interrupted at any point. Returns the response if the work was done or can be completed
   * now.
   * @returns undefined if nothing was done and never will be, so that the payer is credited
   * @throws if this cannot be determined; the caller retries later
   */
  recover(paid: Paid<P>): Answer<R> | undefined | Promise<Answer<R> | undefined>
}

export type Quote<P> = {
  amount: MicroUsd
  /** Description shown to the payer. */
  description: string
  purchase: P
  /** Leased resource. Undefined for purchases that any number of requests may make concurrently. */
  resource?: SoldResource
  /** Sandbox that the purchase points to. It cannot be deleted between the settlement and the end of the work. */
  sandboxId?: SandboxId | undefined
}

/** Resource of at most one order at a time. The order leases it from before settlement until its work ends. */
export type SoldResource = {
  /** Unique name across operations: `domain:example.com`. */
  name: string
  /** Creates the error for concurrent orders, which are rejected without payment. */
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
