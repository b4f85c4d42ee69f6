import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Who sent a request. Behind a proxy it is the last entry of `X-Forwarded-For`, which the proxy itself has added: whatever
 * stands before it may be made up. Without a proxy the header is not believed at all.
 */
export function callerAddress({ behindProxy }: { behindProxy: boolean }): CallerAddress {
  return ({ headers, socket }) => {
    const own = socket.remoteAddress ?? ''
    if (!behindProxy) return own
    const last = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
    return last !== undefined && isIP(last) !== 0 ? last : own
  }
}
