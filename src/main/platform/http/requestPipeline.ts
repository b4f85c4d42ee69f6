import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parse as parseQuery } from 'node:querystring'
import { AppError } from '#shared/appError.ts'
import { parseRequest } from '#shared/contract/parseRequest.ts'
import type { Parsed, Route } from '#shared/contract/route.ts'
import type { WorkLease } from '../access/principals.ts'
import {
  type BytesResponse,
  countBufferedBytes,
  createEventStreamResponse,
  createLongJsonResponse,
  discardResponse,
  type EventStreamResponse,
  isBytesAnswer,
  isEventsAnswer,
  sendBytes,
  sendJson,
} from './answers.ts'
import type { BaseCall, CompleteResponse, Endpoint, Payment, Repeatable } from './endpoint.ts'
import { defaultHeartbeatMs, sendEvents } from './eventStream.ts'
import { type Exchange, getPath, splitUrl } from './exchange.ts'
import { hasLongString } from './jsonPieces.ts'
import { assertMediaType, createEmptyPieces, noBytes, parseBody, readBody, readBodyChunks } from './requestBody.ts'
import { createRouter } from './router.ts'

export type Params = Readonly<Record<string, string | undefined>>

/** Options of the pipeline that differ between the local agent and the service. */
export type PipelineOptions<E extends Endpoint<Call>, Who, Call> = {
  endpoints: readonly E[]
  /** Paths that accept only WebSocket upgrades. */
  socketPaths: readonly string[]
  /** Public pages that are not part of the contract. */
  pages: readonly Page[]
  /** Checks Host and Origin, before authentication. @throws AppError `auth/host`, `auth/origin` */
  guard(request: IncomingMessage): void
  /** Authenticates and authorizes the caller, before the body is read. @throws AppError such as `auth/required` */
  authenticate(endpoint: E, exchange: Exchange, params: Params): Who | Promise<Who>
  /**
   * Registers the request as work of its principal. The end of the lease must abort the exchange. Default: requests do
   * not end with their principal
   * @throws AppError for a principal that has ended
   */
  lease?(principal: Who, endpoint: E, exchange: Exchange): WorkLease | Promise<WorkLease> | undefined
  createCall(principal: Who, call: BaseCall, exchange: Exchange): Call
  /**
   * Runs the work once per `Idempotency-Key`. Errors are not stored. Default: endpoints handle repetitions with
   * `repeatable`
   */
  once?(
    principal: Who,
    request: Repeatable,
    work: () => Promise<CompleteResponse>,
  ): Promise<CompleteResponse & { replayed: boolean }>
  /** Limits the memory of responses that wait to be read. Default: unlimited */
  responseBudget?: ResponseBudget<Who>
  toFailure(error: unknown, request: IncomingMessage): AppError
  /** Path of the document that lists all paths, for hints. Default: /docs */
  documentPath?: string
  /** Heartbeat interval of event streams. */
  heartbeatMs?: number
}

export type ResponseBudget<Who> = {
  /** @throws AppError before work that has effects, if the response may exceed the budget */
  require(principal: Who): void
  /**
   * @returns a function that releases the reservation
   * @throws AppError, which is sent instead of the response
   */
  reserve(principal: Who, bytes: number): () => void
}

export type Page = { path: string; answer(exchange: Exchange, params: Params): BytesResponse | Promise<BytesResponse> }

/**
 * Creates the request pipeline of the local agent and the service: guard → authenticate → parse → idempotency → price →
 * handle. Errors are thrown for the server to send, and are never stored for repetitions.
 */
export function createRequestPipeline<E extends Endpoint<Call>, Who, Call>(
  half: PipelineOptions<E, Who, Call>,
): (exchange: Exchange) => Promise<void> {
  type To = { endpoint: E } | { page: Page } | 'socket'
  const routes = createRouter<To>(
    [
      ...half.endpoints.flatMap((endpoint) =>
        [endpoint.route.path, ...endpoint.route.aliases].map((path) => ({
          method: endpoint.route.method,
          path,
          to: { endpoint },
        })),
      ),
      ...half.socketPaths.map((path) => ({ method: 'GET' as const, path, to: 'socket' as const })),
      ...half.pages.map((page) => ({ method: 'GET' as const, path: page.path, to: { page } })),
    ],
    half.documentPath,
  )
  const failureBodyAt = findFailureBodies(half.endpoints)
  return async (exchange) => {
    const { request } = exchange
    half.guard(request)
    const { path } = splitUrl(request.url ?? '/')
    exchange.failureBody = failureBodyAt(path)
    const { to, params } = routes.find(request.method ?? 'GET', path)
    if (to === 'socket') throw new AppError('request/upgrade', `${getPath(request)} is a WebSocket.`)
    if ('endpoint' in to) {
      exchange.failureBody = to.endpoint.failureBody
      exchange.routePath = to.endpoint.route.path
      return answerEndpoint(half, { endpoint: to.endpoint, params, exchange })
    }
    exchange.routePath = to.page.path
    return sendBytes(exchange, await to.page.answer(exchange, params))
  }
}

/**
 * Finds the error format by path, before a route is matched, so that unknown methods and paths of an API fail in the same
 * format as its other errors.
 */
function findFailureBodies<Call>(
  endpoints: readonly Pick<Endpoint<Call>, 'route' | 'failureBody'>[],
): (path: string) => Exchange['failureBody'] {
  const forms = endpoints.flatMap(({ route, failureBody }) =>
    failureBody ? [route.path, ...route.aliases].map((path) => ({ path, failureBody })) : [],
  )
  forms.sort((a, b) => b.path.length - a.path.length)
  return (path) => forms.find((form) => path === form.path || path.startsWith(`${form.path}/`))?.failureBody
}

type RoutedRequest<E> = { endpoint: E; params: Params; exchange: Exchange }

async function answerEndpoint<E extends Endpoint<Call>, Who, Call>(
  half: PipelineOptions<E, Who, Call>,
  routed: RoutedRequest<E>,
): Promise<void> {
  const { endpoint, params, exchange } = routed
  const principal = await half.authenticate(endpoint, exchange, params)
  const lease = await half.lease?.(principal, endpoint, exchange)
  if (!lease) return send(half, { principal, exchange, answer: await answerFor(half, { ...routed, principal, lease }) })
  try {
    const answer = await rejectOnAbort(exchange, answerFor(half, { ...routed, principal, lease }))
    await send(half, { principal, exchange, answer })
  } finally {
    lease.release()
  }
}

/** Rejects if the exchange is aborted, and discards the response. */
function rejectOnAbort(exchange: Exchange, pending: Promise<AnyAnswer>): Promise<AnyAnswer> {
  return new Promise((resolve, reject) => {
    exchange.onceAborted(reject)
    pending.then((answer) => (exchange.abortError ? discardResponse(answer) : resolve(answer)), reject)
  })
}

type PipelineInput<E, Who> = RoutedRequest<E> & { principal: Who; lease: WorkLease | undefined }

async function answerFor<E extends Endpoint<Call>, Who, Call>(
  half: PipelineOptions<E, Who, Call>,
  { endpoint, params, exchange, principal, lease }: PipelineInput<E, Who>,
): Promise<AnyAnswer> {
  const { request } = exchange
  const { route } = endpoint
  if (withEffects.has(request.method ?? '')) half.responseBudget?.require(principal)

  const bytes = await readRequestBody(route, request)
  const { query } = splitUrl(request.url ?? '/')
  const input = parseRequest(route, { params, query: parseQuery(query), body: parseBody(bytes) })

  const streams = endpoint.streams?.(input) ?? false
  const repeatable = streams ? undefined : toRepeatable(route, request, bytes)
  const call = half.createCall(principal, new PipelineCall(exchange, { route, repeatable, lease }), exchange)
  const work = () => runPaidWork(endpoint, { input, call, bytes, exchange })

  if (repeatable && half.once) {
    let unkept: AnyAnswer | undefined
    const { status, body, replayed } = await half.once(principal, repeatable, async () => {
      const answer = await work()
      if (isStorable(answer)) return answer
      unkept = answer
      return unstoredResponse
    })
    if (replayed) exchange.headers['idempotent-replayed'] = 'true'
    if (replayed && body === unstoredResponse.body) {
      const message = 'The response for this Idempotency-Key was streamed or too large to store.'
      throw new AppError('request/unrepeatable', message)
    }
    return unkept && !isEventsAnswer(unkept) ? unkept : { status, body }
  }
  const answer = await work()
  if (isEventsAnswer(answer) && !streams) {
    throw new Error(`${route.operation} returns an event stream without declaring it.`)
  }
  return answer
}

const withEffects: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
/** Shorter responses are always sent, so that an account at its limit can still read and delete. */
const minReservedBytes = 64 * 1024
/** Time without progress after which the client of a long response counts as disconnected. */
const stallTimeoutMs = 60_000

type Sending<Who> = { principal: Who; exchange: Exchange; answer: AnyAnswer }

function send<E extends Endpoint<Call>, Who, Call>(
  { responseBudget, toFailure, heartbeatMs = defaultHeartbeatMs }: PipelineOptions<E, Who, Call>,
  { principal, exchange, answer }: Sending<Who>,
): Promise<void> | void {
  const { request, response } = exchange
  if (isEventsAnswer(answer)) {
    return sendEvents(exchange, answer, { heartbeatMs, toFailure: (error) => toFailure(error, request) })
  }
  const bytes = countBufferedBytes(answer)
  if (responseBudget && bytes >= minReservedBytes && !response.destroyed) {
    const release = responseBudget.reserve(principal, bytes)
    response.once('close', release)
    response.setTimeout(stallTimeoutMs, () => response.destroy())
  }
  return isBytesAnswer(answer) ? sendBytes(exchange, answer) : sendJson(exchange, answer.status, answer.body)
}

/** Ignores the body of a GET. Leaves a binary body to the handler. */
async function readRequestBody({ raw, maxBodyBytes: maxBytes }: Route, request: IncomingMessage): Promise<Buffer> {
  if (raw?.request !== undefined) assertMediaType(request.headers, raw.request)
  const isRead = raw?.request === undefined && request.method !== 'GET' && request.method !== 'HEAD'
  return isRead ? readBody(request, { mediaType: 'application/json', maxBytes }) : noBytes
}

type Work<Call> = { input: Parsed<Route>; call: Call; bytes: Buffer; exchange: Exchange }
type AnyAnswer = CompleteResponse | BytesResponse | EventStreamResponse

/** Runs the stages `price` and `handle`. */
async function runPaidWork<Call>(endpoint: Endpoint<Call>, work: Work<Call>): Promise<AnyAnswer> {
  const { input, call, bytes, exchange } = work
  // The principal may have ended while the body was read, or while an earlier request with the same key ran.
  if (exchange.abortError) throw exchange.abortError
  if (!endpoint.price) return toResponse(endpoint, await endpoint.handle(input, call))
  const { method = 'GET', url: path = '/', headers } = exchange.request
  const paid = await endpoint.price(input, call, { method, path, headers, body: bytes })
  if (paid === undefined) return toResponse(endpoint, await endpoint.handle(input, call))
  if ('answer' in paid) return paid.answer

  Object.assign(exchange.headers, paid.headers)
  let answer: AnyAnswer
  try {
    answer = toResponse(endpoint, await endpoint.handle(input, call, paid.settlement))
  } catch (error) {
    throw await paid.fail(error)
  }
  if (isEventsAnswer(answer))
    return createEventStreamResponse(settleEvents(answer.events, paid), answer.toEvent && { toEvent: answer.toEvent })
  await paid.done(isBytesAnswer(answer) ? undefined : answer)
  return answer
}

async function* settleEvents<T>(events: AsyncIterable<T>, payment: Payment): AsyncGenerator<T> {
  let failed = false
  try {
    yield* events
  } catch (error) {
    failed = true
    throw await payment.fail(error)
  } finally {
    if (!failed) await payment.done(undefined)
  }
}

function toResponse<Call>({ route }: Endpoint<Call>, value: unknown): AnyAnswer {
  if (isBytesAnswer(value) || isEventsAnswer(value)) return value
  if (hasLongString(value, maxStoredChars)) return createLongJsonResponse(route.status, value)
  return { status: route.status, body: JSON.stringify(value) }
}

/** Maximum length of a stored response, in characters. */
const maxStoredChars = 1024 * 1024

function isStorable(answer: AnyAnswer): answer is CompleteResponse {
  if (isEventsAnswer(answer)) throw new Error('Event streams are never stored: the route must declare that it streams.')
  return !isBytesAnswer(answer) && answer.body.length <= maxStoredChars
}

/** Stored instead of a response that is streamed or too long, so that a retry does not repeat the work. */
const unstoredResponse: CompleteResponse = { status: 200, body: '' }

/**
 * Identifies a request by method, URL and body, without headers. Paid routes store their keys with their orders, so
 * that a retry with a new payment finds an interrupted order.
 */
function toRepeatable(
  { idempotent, sold, raw }: Route,
  { method = '', url: path = '', headers }: IncomingMessage,
  body: Buffer,
): Repeatable | undefined {
  const key = headers['idempotency-key']
  return idempotent && !sold && raw?.request === undefined && key !== undefined
    ? { key: String(key), method, path, body }
    : undefined
}

type CallOptions = { route: Route; repeatable: Repeatable | undefined; lease: WorkLease | undefined }

/** A class for the same reason as `RequestExchange`. */
class PipelineCall implements BaseCall {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Uint8Array>
  readonly repeatable: Repeatable | undefined
  readonly lease: WorkLease | undefined
  readonly #exchange: Exchange

  constructor(exchange: Exchange, { route, repeatable, lease }: CallOptions) {
    const { request } = exchange
    const { raw, maxBodyBytes } = route
    this.method = request.method ?? 'GET'
    this.headers = request.headers
    this.body = raw?.request === undefined ? createEmptyPieces() : readBodyChunks(request, maxBodyBytes)
    this.repeatable = repeatable
    this.lease = lease
    this.#exchange = exchange
  }

  get abort(): (error: AppError) => void {
    return this.#exchange.abort
  }

  readonly setHeader = (name: string, value: string): void => {
    this.#exchange.headers[name.toLowerCase()] = value
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get disconnected(): AbortSignal {
    return this.#exchange.disconnected
  }
}
