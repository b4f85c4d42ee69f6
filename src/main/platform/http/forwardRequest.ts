import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import type { HeaderList } from './endToEndHeaders.ts'
import type { Exchange } from './exchange.ts'
import { drainBody } from './failures.ts'
import { ignoreLateErrors } from './lateErrors.ts'

/** Behavior of one proxy: its target, headers, timeouts and errors. */
export type ProxyOptions = {
  /**
   * Connects to the upstream server and returns a function that starts a request with the given framing headers. The
   * caller sends the body.
   * @param disconnected aborts when the client disconnects
   * @throws AppError; other errors count as `broken`
   */
  reach(disconnected: AbortSignal): Begin | Promise<Begin>
  /** Selects the status text and headers that the client receives, including those of a handshake. */
  answerHead(answer: IncomingMessage): { reason: string | undefined; headers: HeaderList }
  /** Timeout from the end of the request to the status line of the response. */
  answerMs: number
  /** Timeout without a byte in either direction. */
  idleMs: number
  toError(kind: ProxyErrorKind, cause?: unknown): AppError
}

export type Begin = (framing: HeaderList) => ClientRequest

/**
 * `late`: no response in time. `broken`: the connection closed before the response. `protocol`: an upgrade that was not
 * requested. A number: a status that is not final or not valid in HTTP.
 */
export type ProxyErrorKind = 'late' | 'broken' | 'protocol' | number

/**
 * Forwards a request to an upstream server and streams the response back, with backpressure in both directions. If
 * either side disconnects, the other connection is closed.
 * @throws AppError from `toError`, while an error response is still possible
 */
export async function forwardRequest(exchange: Exchange, forwarding: ProxyOptions): Promise<void> {
  const { request, response, disconnected } = exchange
  const { toError } = forwarding
  const begin = await reachUpstream(forwarding, disconnected)
  const upstreamRequest = beginForwarding(begin, getFraming(request), toError)
  const abort = (): void => void upstreamRequest.destroy(new Error('The client disconnected.'))
  disconnected.addEventListener('abort', abort)
  if (disconnected.aborted) abort()
  response.setTimeout(forwarding.idleMs, () => response.destroy())
  let late: NodeJS.Timeout | undefined
  const wait = (): void => {
    late = setTimeout(() => upstreamRequest.destroy(toError('late')), forwarding.answerMs)
  }
  upstreamRequest.once('finish', wait)
  try {
    const answer = await streamBody(upstreamRequest, request, toError)
    upstreamRequest.off('finish', wait) // the upstream may respond before it has received the whole request
    clearTimeout(late)
    const status = assertStatus(answer, toError)
    const { reason, headers } = forwarding.answerHead(answer)
    response.writeHead(status, reason, headers)
    response.flushHeaders() // the body may be events that arrive later
    await pipeline(answer, response)
    // The pipe would pause the request when the upstream connection closes, and the rest of the body would stay unread.
    if (!request.complete) request.unpipe(upstreamRequest)
    drainBody(request)
  } catch (thrown) {
    if (!response.destroyed) throw thrown
  } finally {
    clearTimeout(late)
    disconnected.removeEventListener('abort', abort)
    upstreamRequest.destroy() // the request no longer owns a connection that was returned to the pool
  }
}

/** @throws AppError from `toError` for a status that is not final or not valid in HTTP */
export function assertStatus({ statusCode = 0 }: IncomingMessage, toError: ProxyOptions['toError']): number {
  if (statusCode >= 200 && statusCode <= 999) return statusCode
  throw toError(statusCode)
}

export async function reachUpstream({ reach, toError }: ProxyOptions, disconnected: AbortSignal): Promise<Begin> {
  try {
    return await reach(disconnected)
  } catch (cause) {
    throw cause instanceof AppError ? cause : toError('broken', cause)
  }
}

/** Opens a connection if the pool has none, which can throw synchronously. */
export function beginForwarding(
  begin: Begin,
  framing: HeaderList,
  beginRequest: ProxyOptions['toError'],
): ClientRequest {
  try {
    const request = begin(framing)
    ignoreLateErrors(request)
    return request
  } catch (cause) {
    throw beginRequest('broken', cause)
  }
}

/** Re-encodes a body of unknown length as chunked. Its raw bytes could be parsed as another request. */
function getFraming({ headers }: IncomingMessage): HeaderList {
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
}

/** Streams the body. Stops when the upstream server responds before it has received the whole body. */
function streamBody(
  upstreamRequest: ClientRequest,
  request: IncomingMessage,
  toError: ProxyOptions['toError'],
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
