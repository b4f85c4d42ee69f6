import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '../../../shared/appError.ts'
import type { Ending } from './ending.ts'

/** One request and the answer to it. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Headers of the answer, whatever it will be; by lower-case names. */
  readonly headers: Record<string, string>
  /** Fires when the client has gone before it had the whole answer. */
  readonly gone: AbortSignal
  /** Fires when the client has gone or the server closes: for work that waits. */
  readonly signal: AbortSignal
  /** Of the endpoint, once it is found: how its failures are told, where not as everywhere. */
  failureBody: ((failure: AppError) => unknown) | undefined
}

/** A request to become a WebSocket. `head` is what came behind it already. */
export type Upgrade = { request: IncomingMessage; stream: Duplex; head: Buffer }

type Given = Pick<Exchange, 'request' | 'response'> & { headers: Readonly<Record<string, string>>; ending: Ending }

/**
 * The signals are made for those who ask for them. A class, since an object with getters of its own gets a hidden class of
 * its own in V8, which would keep it until the next full garbage collection.
 */
export class RequestExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: Record<string, string>
  failureBody: Exchange['failureBody'] = undefined
  readonly #ending: Ending
  #gone: AbortSignal | undefined
  #signal: AbortSignal | undefined

  constructor({ request, response, headers, ending }: Given) {
    this.request = request
    this.response = response
    this.headers = { ...headers }
    this.#ending = ending
  }

  get gone(): AbortSignal {
    this.#gone ??= goneSignal(this.response)
    return this.#gone
  }

  get signal(): AbortSignal {
    this.#signal ??= eitherSignal(this.response, this.#ending)
    return this.#signal
  }
}

/** The path of a request without its query, cut where nobody needs more. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return pathAndQuery(url).path.slice(0, 200)
}

export function pathAndQuery(url: string): { path: string; query: string } {
  const end = url.indexOf('?')
  return end < 0 ? { path: url, query: '' } : { path: url.slice(0, end), query: url.slice(end + 1) }
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

function eitherSignal(response: ServerResponse, ending: Ending): AbortSignal {
  const either = new AbortController()
  const end = (): void => either.abort()
  if (response.destroyed) end()
  const forget = ending.onceEnded(end)
  response.once('close', () => {
    forget()
    if (!response.writableFinished) end()
  })
  return either.signal
}
