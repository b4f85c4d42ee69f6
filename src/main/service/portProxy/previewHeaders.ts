import type { IncomingMessage } from 'node:http'
import { endToEnd, type HeaderList } from '#platform/http/endToEndHeaders.ts'
import { tokenProtocol } from '../http/credentials.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import { hasStewardSecret, type PreviewHolder, tokenHeader } from './previewAccess.ts'
import { isPreviewCookie } from './previewCookies.ts'

/** Request that may be forwarded to its port. */
export type AdmittedRequest = {
  port: PortRecord
  headers: HeaderList
  frameOrigin: string | undefined
  /** Principal with access to the port. Undefined if the port is public. */
  holder: PreviewHolder | undefined
}

/** Addressed to Steward or to the proxy. */
const internalHeaders = new Set([tokenHeader, 'expect', 'forwarded'])

/** Headers with lists of values, from which only our own entries are removed. */
const parts: Readonly<Record<string, { separator: string; isOurs: (part: string) => boolean }>> = {
  cookie: { separator: ';', isOurs: isPreviewCookie },
  'sec-websocket-protocol': { separator: ',', isOurs: (protocol) => protocol.startsWith(tokenProtocol) },
}

/** Builds the headers for the server in the sandbox: without credentials of Steward, with the origin of the request. */
export function toSandboxHeaders(
  request: IncomingMessage,
  options: { scheme: 'http' | 'https'; behindProxy: boolean; spent: ReadonlySet<string> },
): HeaderList {
  const headers: HeaderList = {}
  for (const [name, values] of Object.entries(listPassedHeaders(request))) {
    if (options.spent.has(name) || internalHeaders.has(name)) continue
    const forwarded = [values].flat().flatMap((value) => stripOwnHeaders(name, value) ?? [])
    const [first] = forwarded
    if (first !== undefined) headers[name] = forwarded.length === 1 ? first : forwarded
  }
  if (headers.cookie !== undefined) headers.cookie = [headers.cookie].flat().join('; ')
  const before = options.behindProxy ? request.headers : {}
  const address = request.socket.remoteAddress ?? ''
  const chain = headers['x-forwarded-for'] === undefined ? undefined : before['x-forwarded-for']
  headers['x-forwarded-for'] = chain === undefined ? address : `${String(chain)}, ${address}`
  headers['x-forwarded-proto'] = before['x-forwarded-proto'] ?? options.scheme
  headers['x-forwarded-host'] = before['x-forwarded-host'] ?? request.headers.host ?? ''
  return headers
}

/**
 * Builds the headers for the browser. Cookies are limited to their own host, because sibling hosts may belong to other
 * accounts. Responses without cache headers are marked as uncacheable: otherwise browsers would guess a lifetime for a
 * page under development and show it to users without access.
 */
export function toBrowserHeaders(answer: IncomingMessage, frameOrigin?: string): HeaderList {
  const headers = listPassedHeaders(answer)
  if (!('cache-control' in headers || 'expires' in headers)) headers['cache-control'] = 'no-cache'
  const cookies = answer.headers['set-cookie']?.map((cookie) => cookie.replace(/;\s*domain\s*=[^;]*/gi, ''))
  if (cookies) headers['set-cookie'] = cookies
  if (frameOrigin !== undefined) {
    // Added to the response's own policies, because browsers apply all of them.
    const policies = [headers['content-security-policy'] ?? []].flat()
    headers['content-security-policy'] = [...policies, `frame-ancestors 'self' ${frameOrigin}`]
  }
  return headers
}

function listPassedHeaders(message: IncomingMessage): HeaderList {
  const goesOn = endToEnd(message)
  const result: HeaderList = {}
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (values === undefined || !goesOn(name)) continue
    const [first] = values
    result[name] = values.length === 1 && first !== undefined ? first : values
  }
  return result
}

/** @returns undefined if nothing else remains of the value */
function stripOwnHeaders(name: string, value: string): string | undefined {
  const isOurs = parts[name]?.isOurs
  const separator = parts[name]?.separator
  if (isOurs === undefined || separator === undefined) return hasStewardSecret(value) ? undefined : value
  const cookies = value
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !isOurs(part) && !hasStewardSecret(part))
  return cookies.length === 0 ? undefined : cookies.join(`${separator} `)
}
