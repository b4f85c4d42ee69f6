import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { PrivateEnd } from './privateEnd.ts'

/** Of the application, which comes over a socket without addresses: it counts together with the rest of this machine. */
const ofThisMachine = '127.0.0.1'

type Options = { behindProxy: boolean; end: Pick<PrivateEnd, 'tookIn'> }

export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Who sent a request. Behind a proxy it is the last entry of `X-Forwarded-For`, which the proxy itself has added: whatever
 * stands before it may be made up. Without a proxy the header is not believed at all.
 */
export function createClientAddress({ behindProxy, end }: Options): CallerAddress {
  return ({ headers, socket }) => {
    if (end.tookIn({ socket })) return ofThisMachine
    const address = socket.remoteAddress ?? ''
    if (!behindProxy) return address
    const last = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
    return last !== undefined && isIP(last) !== 0 ? last : address
  }
}
