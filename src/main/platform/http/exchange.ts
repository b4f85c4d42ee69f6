import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '../../../shared/appError.ts'

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

/** The signals are made for those who ask for them. */
export function exchangeOf(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  { headers, closing }: { headers: Readonly<Record<string, string>>; closing: AbortSignal },
): Exchange {
  let gone: AbortSignal | undefined
  let signal: AbortSignal | undefined
  return {
    request,
    response,
    headers: { ...headers },
    failureBody: undefined,
    get gone() {
      gone ??= goneSignal(response)
      return gone
    },
    get signal() {
      signal ??= eitherSignal(this.gone, closing, response)
      return signal
    },
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

/** Unlike `AbortSignal.any`, it leaves nothing at the signal of the server, which outlives all requests. */
function eitherSignal(gone: AbortSignal, closing: AbortSignal, response: ServerResponse): AbortSignal {
  const either = new AbortController()
  const end = (): void => either.abort()
  if (gone.aborted || closing.aborted) end()
  gone.addEventListener('abort', end, { once: true })
  closing.addEventListener('abort', end, { once: true })
  response.once('close', () => closing.removeEventListener('abort', end))
  return either.signal
}
