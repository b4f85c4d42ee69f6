import type { IncomingHttpHeaders } from 'node:http'
import { createHttpClient, type HttpClient } from '#platform/http/httpClient.ts'
import { createGuardedLookup, notPublic } from '#platform/net/guardedLookup.ts'
import { isConnectionAllowed } from '#platform/net/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'
import { type PaidResponse, paymentLimits } from '#shared/contract/paymentRecords.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import { parseSellerAddress } from './sellerAddress.ts'

/** Request to a seller, with or without a payment. Retries send the same request. */
export type SellerRequest = {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
}
export type SellerResponse = {
  status: number
  /** Headers by lower-case name. Multiple values are joined by commas. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /**
   * Whether the body was truncated at the limit or by a disconnect. The headers with the receipt are always complete.
   */
  truncated: boolean
}

/** Seller of resources: any x402 URL, or the connected service. */
export interface Seller {
  /**
   * Sends the request once. Redirects are not followed.
   * @throws AppError `purchase/seller` if no response arrived, `purchase/address`
   */
  ask(request: SellerRequest, signal?: AbortSignal): Promise<SellerResponse>
  close(): void
}

const responseTimeoutMs = 60_000

type Options = { resolve?: Parameters<typeof createGuardedLookup>[1]; ca?: string | undefined; deadlineMs?: number }

/** Creates the seller for public addresses. Each address is checked when its connection is opened. */
export function createPublicSeller({ resolve, ca, deadlineMs = responseTimeoutMs }: Options = {}): Seller {
  const client = createHttpClient({
    maxAnswerBytes: paymentLimits.answerBytes,
    lookup: createGuardedLookup(isConnectionAllowed, resolve),
    ...(ca !== undefined && { tls: { ca } }),
  })
  return {
    ask(request, signal) {
      const url = parseSellerAddress(request.url)
      return fetchOnce(client, { ...request, url: url.href }, { signal, deadlineMs, name: url.host })
    },
    close: () => client.close(),
  }
}

type FetchOptions = { signal: AbortSignal | undefined; deadlineMs?: number; name: string }

export async function fetchOnce(
  client: HttpClient,
  request: SellerRequest,
  options: FetchOptions,
): Promise<SellerResponse> {
  const { signal, deadlineMs = responseTimeoutMs, name } = options
  const leaving = new AbortController()
  const late = AbortSignal.timeout(deadlineMs)
  const ending = AbortSignal.any([leaving.signal, late, ...(signal ? [signal] : [])])
  try {
    const { method, url, headers, body } = request
    const answer = await client.open(url, {
      method,
      headers: { 'user-agent': 'Steward', ...headers },
      body,
      signal: ending,
    })
    return { status: answer.status, headers: toSingleHeaders(answer.headers), ...(await readBoundedBody(answer.body)) }
  } catch (cause) {
    signal?.throwIfAborted()
    const why = late.aborted
      ? `did not respond within ${deadlineMs / 1000} s`
      : `did not respond${formatErrorCode(cause)}`
    throw createNoResponseError(`${name} ${why}.`, cause)
  } finally {
    leaving.abort() // closes the connection of a partly read response
  }
}

/**
 * Reads the body up to the limit. A partial body is returned after a disconnect, because it may be the only information
 * about a payment.
 */
async function readBoundedBody(body: AsyncIterable<Uint8Array>): Promise<Pick<SellerResponse, 'body' | 'truncated'>> {
  const pieces: Uint8Array[] = []
  let remainingBytes = paymentLimits.answerBytes as number
  try {
    for await (const piece of body) {
      pieces.push(piece.subarray(0, remainingBytes))
      if (piece.length > remainingBytes) return { body: Buffer.concat(pieces), truncated: true }
      remainingBytes -= piece.length
    }
  } catch {
    return { body: Buffer.concat(pieces), truncated: true }
  }
  return { body: Buffer.concat(pieces), truncated: false }
}

function toSingleHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
}

function createNoResponseError(message: string, cause: unknown): AppError {
  return new AppError('purchase/seller', message, { cause })
}

/** Returns only error codes of Node.js, such as ECONNREFUSED, because other text may come from the seller. */
function formatErrorCode(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  if (cause.message === notPublic) return ': its name resolves to a private address'
  const code = 'code' in cause ? String(cause.code) : ''
  return /^[A-Z_0-9]{3,60}$/.test(code) ? ` (${code})` : ''
}

const visibleHeaders = ['content-type', 'content-length', 'date', 'etag', 'last-modified', 'location', 'retry-after']

/** Reduces a response to the fields that are stored and displayed. */
export function toPaidResponse({ status, headers, body, truncated }: SellerResponse): PaidResponse {
  const selected = Object.fromEntries(
    visibleHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  )
  const text = body.toString('utf8')
  // Truncation may split the last character of a text.
  const isText = !text.slice(0, truncated ? -1 : undefined).includes('\ufffd') && !text.includes('\0')
  return {
    status,
    headers: selected,
    ...(isText ? { body: text, encoding: 'utf8' } : { body: body.toString('base64'), encoding: 'base64' }),
    truncated,
  }
}

const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-authorization', 'proxy-connection'],
  ...['accept-encoding', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'range'],
  ...Object.values(paymentHeaders.payment),
])
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** @throws AppError `request/invalid` for headers that callers may not set */
export function validateHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const lower = name.toLowerCase()
      if (!token.test(name) || ownHeaders.has(lower)) {
        throw new AppError('request/invalid', `\`headers\` must not contain ${JSON.stringify(name.slice(0, 64))}.`)
      }
      if (!/^[\x20-\x7e\t]*$/.test(value)) {
        throw new AppError('request/invalid', `\`headers\` has invalid characters in ${lower}.`)
      }
      return [lower, value]
    }),
  )
}

/** Whether a header may contain a secret. Such headers are never stored. */
export function isCredential(name: string): boolean {
  return /auth|cookie|token|secret|key|password|session|signature/.test(name)
}
