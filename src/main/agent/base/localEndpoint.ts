import type { BytesResponse, EventStreamResponse } from '#platform/http/answers.ts'
import type { BaseCall, Endpoint } from '#platform/http/endpoint.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'

/** Program whose budget a payment counts against, in addition to the user's limits. */
export type PaymentSpender = {
  /** Whether the program has a limit. Payments within that limit need no limit in the request. */
  isLimited: boolean
  /** Counts a payment, in the transaction that creates it. @throws AppError if the budget does not cover it */
  attach(payment: { id: PaymentId; amountMicroUsd: number }): void
}

export type LocalCall = Pick<BaseCall, 'body' | 'repeatable' | 'setHeader' | 'signal'> & {
  requester: Requester
  spender?: PaymentSpender | undefined
  /** Origin of this server as addressed by the caller, such as `http://127.0.0.1:4100`. */
  origin: string
}

/** Operation of the agent itself, below `/local/`. The route's `auth` defines the permitted callers. */
export type LocalEndpoint = Endpoint<LocalCall>

/** `const A` preserves literal types such as `success: true`. */
export function createLocalEndpoint<R extends Route, const A extends Answer<R> | BytesResponse | EventStreamResponse>(
  route: R,
  handle: (input: Parsed<R>, call: LocalCall) => A | Promise<A>,
): LocalEndpoint {
  // The input is parsed with the schemas of this route, so its type matches the handler.
  return { route, handle: handle as LocalEndpoint['handle'] }
}

/** Defines an endpoint that responds with server-sent events. */
export function createLocalEventsEndpoint<R extends Route>(
  route: R,
  handle: (input: Parsed<R>, call: LocalCall) => EventStreamResponse,
): LocalEndpoint {
  return { ...createLocalEndpoint(route, handle), streams: () => true }
}
