import type { BytesAnswer, EventsAnswer } from '#platform/http/answers.ts'
import type { BaseCall, Endpoint } from '#platform/http/endpoint.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'

/** Program whose budget a payment counts against, in addition to the user's limits. */
export type PaymentSpender = {
  /** Whether it has a limit. Payments within that limit need none in the request. */
  isLimited: boolean
  /** Counts a payment, in the transaction that makes it. @throws AppError if the budget does not cover it */
  attach(payment: { id: PaymentId; amountMicroUsd: number }): void
}

export type LocalCall = Pick<BaseCall, 'body' | 'repeatable' | 'setHeader' | 'signal'> & {
  /** Requester, authenticated by session or API key. */
  requester: Requester
  spender?: PaymentSpender | undefined
  /** Origin of this server as the caller addressed it: `http://127.0.0.1:4100`. */
  origin: string
}

/** An operation of the agent itself, below `/local/`; the route's `auth` says who may use it. */
export type LocalEndpoint = Endpoint<LocalCall>

/** `const A` keeps literals such as `success: true` what they are. */
export function createLocalEndpoint<R extends Route, const A extends Answer<R> | BytesAnswer | EventsAnswer>(
  route: R,
  handle: (input: Parsed<R>, call: LocalCall) => A | Promise<A>,
): LocalEndpoint {
  // The input is parsed with this very route's schemas, so it is what the handler expects.
  return { route, handle: handle as LocalEndpoint['handle'] }
}

/** Defines an endpoint that responds with server-sent events. */
export function createLocalEventsEndpoint<R extends Route>(
  route: R,
  handle: (input: Parsed<R>, call: LocalCall) => EventsAnswer,
): LocalEndpoint {
  return { ...createLocalEndpoint(route, handle), streams: () => true }
}
