import type { IncomingMessage } from 'node:http'

export type HeaderList = Record<string, string | string[]>

/** Hop-by-hop headers: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
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

/** Returns a filter that drops hop-by-hop headers, including those that `Connection` names. */
export function endToEnd({ headers }: Pick<IncomingMessage, 'headers'>): (name: string) => boolean {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return (name) => !hopByHop.has(name) && !named.includes(name)
}

/** Formats the head of a response for a raw socket. */
export function formatHead(status: number, reason: string, headers: Readonly<HeaderList>): string {
  const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((it) => `${name}: ${it}\r\n`))
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`
}
