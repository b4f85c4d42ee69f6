import { createHttpClient, type HttpClient } from '#platform/http/httpClient.ts'
import { createGuardedLookup, notPublic } from '#platform/net/guardedLookup.ts'
import { isConnectionAllowed, parseUntrustedUrl } from '#platform/net/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'
import { messageBytes } from './messageLimits.ts'

export type GuardedFetch = { fetch: typeof fetch; close(): void }

type Options = {
  /** Headers sent with each request to this origin. */
  secrets: () => Readonly<Record<string, string>>
  resolve?: Parameters<typeof createGuardedLookup>[1]
  ca?: string | undefined
}

/** @throws AppError `tool-server/address` */
export function parseServerAddress(url: string): URL {
  return parseUntrustedUrl(url, (message) => new AppError('tool-server/address', message))
}

/**
 * Creates a `fetch` limited to one server. Addresses are checked when a connection is opened, redirects are not
 * followed, and responses are bounded. Unsolicited messages (by GET) are not received; lists are requested again
 * instead.
 */
export function createGuardedFetch(address: string, { secrets, resolve, ca }: Options): GuardedFetch {
  const { origin } = parseServerAddress(address)
  const client = createHttpClient({
    maxAnswerBytes: messageBytes,
    lookup: createGuardedLookup(isConnectionAllowed, resolve),
    ...(ca !== undefined && { tls: { ca } }),
  })
  return { fetch: (input, init) => fetchWithin(client, { origin, secrets }, input, init), close: () => client.close() }
}

type FetchTarget = { origin: string; secrets: Options['secrets'] }

async function fetchWithin(
  client: HttpClient,
  { origin, secrets }: FetchTarget,
  ...[input, init]: Parameters<typeof fetch>
) {
  const url = parseServerAddress(input instanceof Request ? input.url : String(input))
  if (url.origin !== origin) throw new AppError('tool-server/address', `${url.host} is not the host of the server.`)
  const method = init?.method ?? 'GET'
  if (method === 'GET') return new Response(null, { status: 405 })
  const leaving = new AbortController()
  const signal = init?.signal ? AbortSignal.any([init.signal, leaving.signal]) : leaving.signal
  const headers: Record<string, string> = {}
  new Headers(init?.headers).forEach((value, name) => {
    headers[name] = value
  })
  for (const [name, value] of Object.entries(secrets())) headers[name.toLowerCase()] = value
  const body = typeof init?.body === 'string' ? init.body : undefined
  try {
    const answer = await client.open(url.href, {
      method,
      headers: { 'user-agent': 'Steward', ...headers },
      body,
      signal,
    })
    const { status } = answer
    const forwarded = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) forwarded.set(name, [value].flat().join(', '))
    if (status < 200 || status > 599 || [204, 205, 304].includes(status)) {
      leaving.abort()
      return new Response(null, { status: status < 200 || status > 599 ? 502 : status, headers: forwarded })
    }
    return new Response(
      limitBody(answer.body, () => leaving.abort()),
      { status, headers: forwarded },
    )
  } catch (cause) {
    if (cause instanceof Error && cause.message === notPublic) {
      throw createRedirectError(url, cause)
    }
    throw cause
  }
}

function createRedirectError({ host }: URL, cause: unknown): AppError {
  return new AppError('tool-server/address', `${host} resolves to a private address.`, { cause })
}

/** @param abort closes the connection */
function limitBody(body: AsyncIterable<Uint8Array>, abort: () => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  let remainingBytes = messageBytes
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next()
        if (done) return controller.close()
        remainingBytes -= value.length
        if (remainingBytes < 0) throw new AppError('tool-server/failed', 'The response of the server is too large.')
        controller.enqueue(value)
      } catch (error) {
        abort()
        controller.error(error)
      }
    },
    cancel: abort,
  })
}
