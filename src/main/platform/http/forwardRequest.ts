import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import type { HeaderList } from './endToEndHeaders.ts'
import type { Exchange } from './exchange.ts'
import { dropRest } from './failures.ts'
import { ignoreLateErrors } from './lateErrors.ts'

/** What a proxy is for, and what it tells: each has its own headers and its own words. */
export type Forwarding = {
  /**
   * Gets hold of the other server. What comes back begins a request with the headers that it may see and these; its body,
   * and its end, follow. @param left fires when the client has gone
   * @throws AppError; anything else is told as `broken`
   */
  reach(left: AbortSignal): Begin | Promise<Begin>
  /** What the client gets to see of the head of an answer, beside its status; of a handshake too. */
  answerHead(answer: IncomingMessage): { reason: string | undefined; headers: HeaderList }
  /** From the end of the request to the first line of the answer. */
  answerMs: number
  /** Without a byte either way. */
  idleMs: number
  failure(what: ForwardingFailure, cause?: unknown): AppError
}

export type Begin = (framing: HeaderList) => ClientRequest

/**
 * `late`: no answer in time. `broken`: the connection ended before the answer. `protocol`: it goes on in a protocol that
 * nobody asked for. A number is a status that ends no answer, or that HTTP does not have.
 */
export type ForwardingFailure = 'late' | 'broken' | 'protocol' | number

/**
 * Hands a request on to another server and its answer back, bodies streaming both ways, each side as fast as the slower
 * one. Either end that leaves takes the other along.
 * @throws AppError of `failure`, while it can still be answered
 */
export async function forwardRequest(exchange: Exchange, forwarding: Forwarding): Promise<void> {
  const { request, response, gone } = exchange
  const { failure } = forwarding
  const begin = await reached(forwarding, gone)
  const asked = begun(begin, framingOf(request), failure)
  const leave = (): void => void asked.destroy(new Error('The client has left.'))
  gone.addEventListener('abort', leave)
  if (gone.aborted) leave()
  response.setTimeout(forwarding.idleMs, () => response.destroy())
  let late: NodeJS.Timeout | undefined
  const wait = (): void => {
    late = setTimeout(() => asked.destroy(failure('late')), forwarding.answerMs)
  }
  asked.once('finish', wait)
  try {
    const answer = await answerTo(asked, request, failure)
    asked.off('finish', wait) // it may answer before it has the whole request
    clearTimeout(late)
    const status = checkedStatus(answer, failure)
    const { reason, headers } = forwarding.answerHead(answer)
    response.writeHead(status, reason, headers)
    response.flushHeaders() // what follows may be events that are yet to happen
    await pipeline(answer, response)
    // The pipe would pause the request again when the other connection closes, and the rest would stay unread.
    if (!request.complete) request.unpipe(asked)
    dropRest(request)
  } catch (thrown) {
    if (!response.destroyed) throw thrown
  } finally {
    clearTimeout(late)
    gone.removeEventListener('abort', leave)
    asked.destroy() // a connection that can be used again is not its own any more
  }
}

/** @throws AppError of `failure` for a status that ends no answer, or that HTTP does not have */
export function checkedStatus({ statusCode = 0 }: IncomingMessage, failure: Forwarding['failure']): number {
  if (statusCode >= 200 && statusCode <= 999) return statusCode
  throw failure(statusCode)
}

export async function reached({ reach, failure }: Forwarding, left: AbortSignal): Promise<Begin> {
  try {
    return await reach(left)
  } catch (cause) {
    throw cause instanceof AppError ? cause : failure('broken', cause)
  }
}

/** A connection is made at once where none is left, which can fail at once. */
export function begun(begin: Begin, framing: HeaderList, failure: Forwarding['failure']): ClientRequest {
  try {
    const request = begin(framing)
    ignoreLateErrors(request)
    return request
  } catch (cause) {
    throw failure('broken', cause)
  }
}

/** A body of unknown length is framed again: as raw bytes it could pass for another request. */
function framingOf({ headers }: IncomingMessage): HeaderList {
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
}

/** Sends the body along, and stops when the other server answers before it has taken all of it. */
function answerTo(
  asked: ClientRequest,
  request: IncomingMessage,
  failure: Forwarding['failure'],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once('response', resolve)
    asked.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(failure('protocol'))
    })
    asked.on('error', (cause) => {
      request.unpipe(asked)
      reject(cause instanceof AppError ? cause : failure('broken', cause))
    })
    request.pipe(asked)
  })
}
