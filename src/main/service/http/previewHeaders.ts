import type { IncomingMessage } from 'node:http'
import type { PortRecord } from '../ports/portRepository.ts'
import { accessCookie, isStewardSecret, tokenHeader } from './previewAccess.ts'

export type HeaderList = Record<string, string | string[]>
/** A request that may go to its port. */
export type Admitted = { port: PortRecord; headers: HeaderList }

/** Of one connection only: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What the server in the sandbox gets to see: nothing that opens Steward, and from where the request came. */
export function insideHeaders(
  request: IncomingMessage,
  given: { scheme: 'http' | 'https'; behindProxy: boolean; spent: ReadonlySet<string> },
): HeaderList {
  const headers = passedOn(request)
  for (const name of [...given.spent, tokenHeader, 'expect', 'forwarded']) delete headers[name]
  for (const name of ['authorization', 'x-api-key']) {
    if (isStewardSecret(request.headers[name])) delete headers[name]
  }
  if (headers.cookie !== undefined) {
    const cookies = withoutOurs(String(request.headers.cookie ?? ''))
    if (cookies === '') delete headers.cookie
    else headers.cookie = cookies
  }
  const before = given.behindProxy ? request.headers : {}
  const address = request.socket.remoteAddress ?? ''
  const chain = before['x-forwarded-for']
  headers['x-forwarded-for'] = chain === undefined ? address : `${String(chain)}, ${address}`
  headers['x-forwarded-proto'] = before['x-forwarded-proto'] ?? given.scheme
  headers['x-forwarded-host'] = before['x-forwarded-host'] ?? request.headers.host ?? ''
  return headers
}

/**
 * What the browser gets to see of the answer. A cookie stays with its own address: others may be of somebody else. And
 * where the answer says nothing of it, the browser asks again each time: else it would guess for how long a page that is
 * being worked on stays as it is, and show it to whoever may no longer see it.
 * @see https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2
 */
export function outsideHeaders(answer: IncomingMessage): HeaderList {
  const headers = passedOn(answer)
  if (!('cache-control' in headers || 'expires' in headers)) headers['cache-control'] = 'no-cache'
  const cookies = answer.headers['set-cookie']?.map((cookie) => cookie.replace(/;\s*domain\s*=[^;]*/gi, ''))
  if (cookies) headers['set-cookie'] = cookies
  return headers
}

/** Lines of an answer that is written by hand. */
export function headerLines(headers: HeaderList): string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`))
}

function passedOn({ headers, headersDistinct }: IncomingMessage): HeaderList {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const result: HeaderList = {}
  for (const [name, values] of Object.entries(headersDistinct)) {
    if (values === undefined || hopByHop.has(name) || named.includes(name)) continue
    const [first] = values
    result[name] = values.length === 1 && first !== undefined ? first : values
  }
  return result
}

function withoutOurs(cookies: string): string {
  return cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && !cookie.startsWith(`${accessCookie}=`))
    .join('; ')
}
