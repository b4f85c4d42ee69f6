import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import type { HeaderList } from './endToEndHeaders.ts'
import type { Exchange } from './exchange.ts'
import { dropRest } from './failures.ts'
import { ignoreLateErrors } from './lateErrors.ts'

/** Behavior of one proxy: its target, headers, timeouts and errors. */
export type Forwarding = {
  /**
   * Connects to the other server. Its response begins a request with these headers and those that it may see; the body
   * and the end follow. @param disconnected fires when the client disconnects
   * @throws AppError; other errors count as `broken`
   */
  reach(disconnected: AbortSignal): Begin | Promise<Begin>
  /** Selects the status text and headers that the client receives, also for a handshake. */
  answerHead(answer: IncomingMessage): { reason: string | undefined; headers: HeaderList }
  /** Timeout from the end of the request to the status line of the response. */
  answerMs: number
  /** Timeout without a byte in either direction. */
  idleMs: number
  toError(kind: ForwardingFailure, cause?: unknown): AppError
}

export type Begin = (framing: HeaderList) => ClientRequest

/**
 * `late`: no response in time. `broken`: the connection ended before the response. `protocol`: an upgrade that was not
 * requested. A number: a status that is not final or not valid in HTTP.
 */
export type ForwardingFailure = 'late' | 'broken' | 'protocol' | number

/**
 * Hands a request on to another server and its answer back, bodies streaming both ways, each side as fast as the slower
 * one. Either end that leaves takes the other along.
 * @throws AppError of `failure`, while it can still be answered
 */
export async function forwardRequest(exchange: Exchange, forwarding: Forwarding): Promise<void> {
  const { request, response, disconnected } = exchange
  const { toError } = forwarding
  const begin = await reachUpstream(forwarding, disconnected)
  const upstreamRequest = beginForwarding(begin, getFraming(request), toError)
  const abort = (): void => void upstreamRequest.destroy(new Error('The client has left.'))
  disconnected.addEventListener('abort', abort)
  if (disconnected.aborted) abort()
  response.setTimeout(forwarding.idleMs, () => response.destroy())
  let late: NodeJS.Timeout | undefined
  const wait = (): void => {
    late = setTimeout(() => upstreamRequest.destroy(toError('late')), forwarding.answerMs)
  }
  upstreamRequest.once('finish', wait)
  try {
    const answer = await answerTo(upstreamRequest, request, toError)
    upstreamRequest.off('finish', wait) // it may answer before it has the whole request
    clearTimeout(late)
    const status = assertStatus(answer, toError)
    const { reason, headers } = forwarding.answerHead(answer)
    response.writeHead(status, reason, headers)
    response.flushHeaders() // what follows may be events that are yet to happen
    await pipeline(answer, response)
    // The pipe would pause the request again when the other connection closes, and the rest would stay unread.
    if (!request.complete) request.unpipe(upstreamRequest)
    dropRest(request)
  } catch (thrown) {
    if (!response.destroyed) throw thrown
  } finally {
    clearTimeout(late)
    disconnected.removeEventListener('abort', abort)
    upstreamRequest.destroy() // a connection that can be used again is not its own any more
  }
}

/** @throws AppError of `failure` for a status that ends no answer, or that HTTP does not have */
export function assertStatus({ statusCode = 0 }: IncomingMessage, toError: Forwarding['toError']): number {
  if (statusCode >= 200 && statusCode <= 999) return statusCode
  throw toError(statusCode)
}

export async function reachUpstream({ reach, toError }: Forwarding, disconnected: AbortSignal): Promise<Begin> {
  try {
    return await reach(disconnected)
  } catch (cause) {
    throw cause instanceof AppError ? cause : toError('broken', cause)
  }
}

/** A connection is made at once where none is left, which can fail at once. */
export function beginForwarding(begin: Begin, framing: HeaderList, beginRequest: Forwarding['toError']): ClientRequest {
  try {
    const request = begin(framing)
    ignoreLateErrors(request)
    return request
  } catch (cause) {
    throw beginRequest('broken', cause)
  }
}

/** A body of unknown length is framed again: as raw bytes it could pass for another request. */
function getFraming({ headers }: IncomingMessage): HeaderList {
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
}

/** Streams the body, and stops when the other server responds before it has received all of it. */
function answerTo(
  upstreamRequest: ClientRequest,
  request: IncomingMessage,
  toError: Forwarding['toError'],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstreamRequest.once('response', resolve)
    upstreamRequest.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(toError('protocol'))
    })
    upstreamRequest.on('error', (cause) => {
      request.unpipe(upstreamRequest)
      reject(cause instanceof AppError ? cause : toError('broken', cause))
    })
    request.pipe(upstreamRequest)
  })
}
