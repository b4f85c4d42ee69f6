import type { IncomingHttpHeaders } from 'node:http'
import type { AppError } from '#shared/appError.ts'
import type { Parsed, Route } from '#shared/contract/route.ts'
import type { WorkLease } from '../access/principals.ts'
import type { RepeatableRequest } from './oncePerKey.ts'

/** Request context that the local agent and the service extend for their handlers. */
export type BaseCall = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Chunks of a binary body. Empty unless the route has one. */
  readonly body: AsyncIterable<Uint8Array>
  /** Sets a header of the response, including an error response. */
  setHeader(name: string, value: string): void
  /** Aborts when the client disconnects, the server closes or the request is aborted. For handlers that wait. */
  readonly signal: AbortSignal
  /** Aborts when the client disconnects or the request is aborted. For work that a closing server still completes. */
  readonly disconnected: AbortSignal
  /** Ends the request with this error as its response. */
  abort(error: AppError): void
  /** Lease of the request, which ends with its principal. Undefined for unauthenticated requests. */
  readonly lease: WorkLease | undefined
  /** Set for requests with `Idempotency-Key`, on routes that support the key. Undefined for event streams. */
  readonly repeatable: Repeatable | undefined
}

export type Repeatable = Omit<RepeatableRequest, 'holder'>

/** Route of the contract with its handler. The input is parsed by the schemas of the route. */
export type Endpoint<Call> = {
  route: Route
  /**
   * Whether the response to this input is an event stream, for which an `Idempotency-Key` is ignored. Default: never
   */
  streams?: (input: Parsed<Route>) => boolean
  /** Creates the body of an error response, for paths with a different error format. Default: the standard format */
  failureBody?: (error: AppError) => unknown
  /** Price to settle before the handler runs. Default: free */
  price?: Price<Call>
  /** @returns a value of the route's response schema, or a response from `createBytesAnswer` or `createEventStreamResponse` */
  handle: (input: Parsed<Route>, call: Call, settlement?: unknown) => unknown
}

/**
 * Charges for an operation before its handler runs. Runs after the idempotency check, so that a repeated request is not
 * charged.
 * @returns undefined if this input is free, or a stored response if the payment has already bought one
 * @throws AppError such as a 402 with its headers and fields. It is never stored for an `Idempotency-Key`.
 */
export type Price<Call> = (
  input: Parsed<Route>,
  call: Call,
  request: PricedRequest,
) => Promise<Payment | { answer: CompleteResponse } | undefined>

/** Request that a payment is bound to. `path` includes the query; `body` is the raw body. */
export type PricedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer }

/** Payment that was made. The handler runs, and the payment is notified of the outcome once, before the client is. */
export type Payment = {
  /** Amount and payer, for the handler. */
  settlement: unknown
  /** Receipt headers of the response, including an error response. */
  headers: Readonly<Record<string, string>>
  /**
   * Completes the payment after the work.
   * @param answer undefined if the response was streamed, to its end or until the client disconnected
   */
  done(answer: CompleteResponse | undefined): Promise<void>
  /** Handles an error of the work. @returns the error for the client, which may include the state of the payment */
  fail(error: unknown): Promise<AppError>
}

/** Complete JSON response. */
export type CompleteResponse = { status: number; body: string }
