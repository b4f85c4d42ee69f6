import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { PrivateEndpoint } from './privateEndpoint.ts'

/** The application connects over a socket without addresses, which counts as this computer. */
const selectPlatform = '127.0.0.1'

type Options = { behindProxy: boolean; end: Pick<PrivateEndpoint, 'tookIn'> }

export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Returns the client's address. Behind a proxy, this is the last entry of `X-Forwarded-For`, which the proxy itself
 * added; earlier entries may be forged. Otherwise the header is ignored.
 */
export function createClientAddress({ behindProxy, end }: Options): CallerAddress {
  return ({ headers, socket }) => {
    if (end.tookIn({ socket })) return selectPlatform
    const address = socket.remoteAddress ?? ''
    if (!behindProxy) return address
    const last = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
    return last !== undefined && isIP(last) !== 0 ? last : address
  }
}
