import type { IncomingHttpHeaders } from 'node:http'
import type { AppError } from '#shared/appError.ts'
import type { Parsed, Route } from '#shared/contract/route.ts'
import type { RepeatableRequest } from '../oncePerKey.ts'
import type { Lease } from '../principals.ts'

/** Request context that both halves extend for their handlers. */
export type BaseCall = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** The pieces of a body of bytes. Empty where the route takes none. */
  readonly body: AsyncIterable<Uint8Array>
  /** Sets a header of the response, also of an error response. */
  setHeader(name: string, value: string): void
  /** Fires when the client has gone, the server closes or the request is aborted: for handlers that wait. */
  readonly signal: AbortSignal
  /** Fires when the client has gone or the request is aborted: for work that a server which closes still finishes. */
  readonly disconnected: AbortSignal
  /** Ends the request, and answers it with this error. */
  abort(error: AppError): void
  /** Lease of the request, which ends with its principal. Undefined where no principal is known. */
  readonly lease: Lease<unknown> | undefined
  /** Set for requests with `Idempotency-Key`, on routes that honour the key. Undefined for event streams. */
  readonly repeatable: Repeatable | undefined
}

export type Repeatable = Omit<RepeatableRequest, 'holder'>

/** A route of the contract with what answers it. Input was parsed by the route's own schemas. */
export type Endpoint<Call> = {
  route: Route
  /** Whether this input is answered with events; an `Idempotency-Key` then counts for nothing. Absent: never. */
  streams?: (input: Parsed<Route>) => boolean
  /** The body of a failure, for paths whose callers expect another form than ours. Absent: as everywhere. */
  failureBody?: (error: AppError) => unknown
  /** Price to settle before the handler runs. Absent: free. */
  price?: Price<Call>
  /** @returns what the route's schema says, or what `bytesAnswer` or `eventsAnswer` made */
  handle: (input: Parsed<Route>, call: Call, settlement?: unknown) => unknown
}

/**
 * Charges for an operation between its request and handler. Runs after the idempotency key, so that a repetition pays
 * nothing.
 * @returns undefined if this input is free; a response that replaces the handler's, for a payment that bought one
 * before
 * @throws AppError such as a 402 with its headers and fields. It is never stored for an `Idempotency-Key`.
 */
export type Price<Call> = (
  input: Parsed<Route>,
  call: Call,
  request: PricedRequest,
) => Promise<Payment | { answer: StoredAnswer } | undefined>

/** Request that a payment is bound to. `path` includes the query; `body` is unparsed. */
export type PricedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer }

/** Payment that was made: the handler runs, and the payment is notified of the outcome once, before the client is. */
export type Payment = {
  /** For the handler: how much, by whom. */
  settlement: unknown
  /** Headers of the response, also of an error response: the receipt. */
  headers: Readonly<Record<string, string>>
  /**
   * The work is done.
   * @param answer undefined: it was sent in pieces, to their end or until the client left
   */
  done(answer: StoredAnswer | undefined): Promise<void>
  /** Handles a failure of the work. @returns the error for the client, which may say where the money is */
  fail(error: unknown): Promise<AppError>
}

/** An answer of JSON, whole. */
export type StoredAnswer = { status: number; body: string }
