import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '#shared/appError.ts'
import type { Ending } from './ending.ts'

/** One request and the answer to it. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Headers of the answer, whatever it will be; by lower-case names. */
  readonly headers: Record<string, string>
  /** Fires when the client has gone before it had the whole answer, and at `abort`. */
  readonly disconnected: AbortSignal
  /** Fires when the client has gone or the server closes, and at `abort`: for work that waits. */
  readonly signal: AbortSignal
  /** Error of `abort`. Undefined before. */
  readonly abortError: AppError | undefined
  /**
   * Ends the request, as when its principal ends. The signals fire with the error as their reason, and the error is the
   * answer. Where an answer has begun, its source may write a last part; then the connection breaks off. Does nothing
   * once the answer was sent.
   */
  abort(error: AppError): void
  /** Calls the one listener at `abort`, or at once after it. */
  onceAborted(listener: (error: AppError) => void): void
  /** Error format of the matched endpoint. Undefined: the common one. */
  failureBody: ((error: AppError) => unknown) | undefined
  /** Path template of the matched route. The access log has it instead of the path, whose segments may hold secrets. */
  routePath: string | undefined
  /** Fields of the access log that are known once the caller is. */
  logFields: Readonly<Record<string, string>> | undefined
}

/** A request to become a WebSocket. `head` is what came behind it already. */
export type Upgrade = { request: IncomingMessage; stream: Duplex; head: Buffer }

type ExchangeInput = Pick<Exchange, 'request' | 'response'> & {
  headers: Readonly<Record<string, string>>
  ending: Ending
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
  readonly #ending: Ending
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
    const cutOff = setTimeout(() => response.destroy(), lastPartMs)
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

/** Time for the last part of an answer after `abort`. */
const lastPartMs = 2_000

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

function createEitherController(response: ServerResponse, ending: Ending): AbortController {
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
