import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { AppError } from '#shared/appError.ts'
import type { Exchange } from './exchange.ts'
import { createErrorHeaders, retryHeader } from './failures.ts'
import { serializeJsonChunks } from './jsonPieces.ts'

const form = Symbol('form of an answer')

/** Response that is not JSON, such as a file, a page or an archive. */
export type BytesResponse = {
  readonly [form]: 'bytes'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the response has the headers of a body, but no body. */
  readonly body: string | Uint8Array | Pieces | undefined
  /** Bytes held in memory until all chunks are sent. */
  readonly sourceBytes: number
}

/** Stream of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export type EventStreamResponse = {
  readonly [form]: 'events'
  readonly events: AsyncIterable<StreamEvent>
  readonly toEvent: ((toEvent: AppError) => StreamEvent) | undefined
}

/** `data` is sent unchanged if it is a string, otherwise as JSON. */
export type StreamEvent = { event?: string; id?: string; data: unknown }

/** Chunks, pulled as the client reads them. */
type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

export function createBytesAnswer(fields: {
  status?: number
  headers: Readonly<Record<string, string>>
  body?: BytesResponse['body']
  sourceBytes?: number
}): BytesResponse {
  const { status = 200, headers, body, sourceBytes = 0 } = fields
  return { [form]: 'bytes', status, headers, body, sourceBytes }
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** Creates a JSON response for an object with long strings. It is serialized while it is sent. */
export function createLongJsonResponse(status: number, value: Readonly<Record<string, unknown>>): BytesResponse {
  const strings = Object.values(value).filter((member) => typeof member === 'string')
  const sourceBytes = strings.reduce((sum, text) => sum + measureBytes(text), 0)
  return createBytesAnswer({ status, headers: jsonHeaders, body: serializeJsonChunks(value), sourceBytes })
}

/** Returns the bytes that a response holds in memory until it is sent. */
export function countBufferedBytes({
  body,
  sourceBytes = 0,
}: {
  body: BytesResponse['body']
  sourceBytes?: number
}): number {
  if (typeof body === 'string') return measureBytes(body)
  return body instanceof Uint8Array ? body.length : sourceBytes
}

/** Estimates the size of a string in V8: one byte per UTF-16 unit if all text is ASCII, otherwise at most two. */
function measureBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : text.length * 2
}

/**
 * Creates a response of server-sent events. Requests the next event once the client has received the previous ones. An
 * error before the first event becomes a normal error response. When the client disconnects, the handler's signal
 * aborts and the iterator is closed.
 * @param options format of a later error; default: an event `error` with a standard error body
 */
export function createEventStreamResponse(
  events: AsyncIterable<StreamEvent>,
  options: { toEvent?: (toEvent: AppError) => StreamEvent } = {},
): EventStreamResponse {
  return { [form]: 'events', events, toEvent: options.toEvent }
}

export function isBytesAnswer(value: unknown): value is BytesResponse {
  return getForm(value) === 'bytes'
}

export function isEventsAnswer(value: unknown): value is EventStreamResponse {
  return getForm(value) === 'events'
}

/** Closes the source of a response that is not sent. */
export function discardResponse(answer: unknown): void {
  const source = isBytesAnswer(answer) ? answer.body : isEventsAnswer(answer) ? answer.events : undefined
  if (source instanceof Readable) source.destroy()
  else if (typeof source === 'object' && Symbol.asyncIterator in source) {
    source[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {}) // errors of a discarded source are ignored
  }
}

function getForm(value: unknown): unknown {
  return typeof value === 'object' && value !== null && form in value ? value[form] : undefined
}

export function sendJson(exchange: Exchange, status: number, text: string): void {
  sendWhole(exchange, { status, headers: jsonHeaders, body: text })
}

/**
 * Sends an error response. If a response has begun, closes the connection, because there is no other way to report the
 * error.
 */
export function sendError(exchange: Exchange, error: AppError): void {
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    return
  }
  Object.assign(exchange.headers, createErrorHeaders(error), exchange.failureBody && retryHeader(error))
  sendJson(exchange, error.status, JSON.stringify(exchange.failureBody?.(error) ?? error.toBody()))
}

/** @throws an error of the source; it can become an error response only before the first chunk */
export async function sendBytes(exchange: Exchange, { status, headers, body }: BytesResponse): Promise<void> {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    sendWhole(exchange, { status, headers, body })
    return
  }
  const { request, response, disconnected } = exchange
  const begin = () => response.writeHead(status, { ...exchange.headers, ...headers })
  const stop = () => body instanceof Readable && body.destroy()
  if (request.method === 'HEAD') {
    stop()
    begin().end()
    return
  }
  disconnected.addEventListener('abort', stop)
  if (disconnected.aborted) stop()
  try {
    await writeChunks(response, body, (piece) => {
      if (!response.headersSent) begin()
      return response.write(piece)
    })
    if (!response.headersSent) begin()
    response.end()
  } catch (error) {
    if (!disconnected.aborted) throw error
    if (exchange.abortError && !response.headersSent) throw exchange.abortError
    response.destroy()
  } finally {
    disconnected.removeEventListener('abort', stop)
  }
}

/** Requests the next chunk once the client has read the last one. Stops when the client disconnects. */
export async function writeChunks<T>(
  response: ServerResponse,
  pieces: AsyncIterable<T> | Iterable<T>,
  write: (piece: T) => boolean,
): Promise<void> {
  for await (const piece of pieces) {
    if (isOver(response)) return
    if (!write(piece)) await waitForDrain(response)
    if (isOver(response)) return
  }
}

function isOver(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.on('drain', go)
    response.on('close', go)
  })
}

type Whole = { status: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array | undefined }

function sendWhole({ request, response, headers: ownHeaders }: Exchange, { status, headers, body }: Whole): void {
  if (response.destroyed) return
  if (body === undefined) {
    response.writeHead(status, { ...ownHeaders, ...headers }).end()
    return
  }
  response.writeHead(status, { ...ownHeaders, ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
