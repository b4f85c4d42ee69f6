import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '#shared/appError.ts'
import type { AbortListeners } from './abortListeners.ts'

/** A request and its response. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Headers of the response, including an error response. Names are in lower case. */
  readonly headers: Record<string, string>
  /** Aborts when the client disconnects before the end of the response, and on `abort`. */
  readonly disconnected: AbortSignal
  /** Aborts when the client disconnects, when the server closes, and on `abort`. For work that waits. */
  readonly signal: AbortSignal
  /** Error passed to `abort`. Undefined if it was not called. */
  readonly abortError: AppError | undefined
  /**
   * Ends the request, for example when its principal ends. The signals abort with the error as their reason, and the
   * error becomes the response. If a response has begun, its source may write a last chunk before the connection is
   * closed. No-op once the response is sent.
   */
  abort(error: AppError): void
  /** Calls the listener on `abort`, or immediately if aborted. Supports one listener. */
  onceAborted(listener: (error: AppError) => void): void
  /** Error format of the matched endpoint. Default: the standard format */
  failureBody: ((error: AppError) => unknown) | undefined
  /**
   * Path template of the matched route. The access log contains it instead of the path, whose segments may contain
   * secrets.
   */
  routePath: string | undefined
  /** Access log fields that are set after authentication. */
  logFields: Readonly<Record<string, string>> | undefined
}

/** Request to upgrade to a WebSocket. `head` contains bytes already received after the request. */
export type Upgrade = { request: IncomingMessage; stream: Duplex; head: Buffer }

type ExchangeInput = Pick<Exchange, 'request' | 'response'> & {
  headers: Readonly<Record<string, string>>
  ending: AbortListeners
}

/**
 * Creates its signals on demand. A class, because an object literal with getters gets a separate hidden class in V8
 * each time, retained until the next full garbage collection.
 */
export class RequestExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: Record<string, string>
  failureBody: Exchange['failureBody'] = undefined
  routePath: Exchange['routePath'] = undefined
  logFields: Exchange['logFields'] = undefined
  readonly #ending: AbortListeners
  #gone: AbortController | undefined
  #signal: AbortController | undefined
  #abortError: AppError | undefined
  #onAbort: ((error: AppError) => void) | undefined

  constructor({ request, response, headers, ending }: ExchangeInput) {
    this.request = request
    this.response = response
    this.headers = { ...headers }
    this.#ending = ending
  }

  get disconnected(): AbortSignal {
    this.#gone ??= createDisconnectController(this.response)
    if (this.#abortError) this.#gone.abort(this.#abortError)
    return this.#gone.signal
  }

  get signal(): AbortSignal {
    this.#signal ??= createEitherController(this.response, this.#ending)
    if (this.#abortError) this.#signal.abort(this.#abortError)
    return this.#signal.signal
  }

  get abortError(): AppError | undefined {
    return this.#abortError
  }

  readonly abort = (error: AppError): void => {
    const { response } = this
    if (this.#abortError || response.destroyed || response.writableEnded) return
    this.#abortError = error
    const cutOff = setTimeout(() => response.destroy(), lastChunkTimeoutMs)
    response.once('close', () => clearTimeout(cutOff))
    this.#onAbort?.(error)
    this.#gone?.abort(error)
    this.#signal?.abort(error)
  }

  onceAborted(listener: (error: AppError) => void): void {
    if (this.#abortError) listener(this.#abortError)
    else this.#onAbort = listener
  }
}

/** Time for the last chunk of a response after `abort`. */
const lastChunkTimeoutMs = 2_000

/** Returns the path of a request without its query, truncated. */
export function getPath({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return splitUrl(url).path.slice(0, 200)
}

export function splitUrl(url: string): { path: string; query: string } {
  const end = url.indexOf('?')
  return end < 0 ? { path: url, query: '' } : { path: url.slice(0, end), query: url.slice(end + 1) }
}

function createDisconnectController(response: ServerResponse): AbortController {
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller
}

function createEitherController(response: ServerResponse, ending: AbortListeners): AbortController {
  const either = new AbortController()
  const end = (): void => either.abort()
  if (response.destroyed) end()
  const forget = ending.onceEnded(end)
  response.once('close', () => {
    forget()
    if (!response.writableFinished) end()
  })
  return either
}
