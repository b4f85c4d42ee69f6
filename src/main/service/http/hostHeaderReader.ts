import type { IncomingMessage } from 'node:http'
import { formatHostAndPort, isLoopback } from '#platform/net/listenAddress.ts'
import type { PrivateEndpoint } from './privateEndpoint.ts'
import { isLoopbackName } from './requestGuard.ts'

/**
 * Returns the Host header of a request if it names the endpoint that received the request, otherwise an empty string.
 */
export type HostHeaderReader = (request: Pick<IncomingMessage, 'headers'> & { socket: SocketAddress }) => string
type SocketAddress = { localAddress?: string | undefined; localPort?: number | undefined }

type Options = {
  listenHost: string
  scheme: 'http' | 'https'
  end: Pick<PrivateEndpoint, 'tookIn'>
  ownUrl: () => string
}

/**
 * Validates the Host header, which the caller controls, against the socket. Otherwise a message signed for another host
 * could be replayed here.
 */
export function createHostHeaderReader({ listenHost, scheme, end, ownUrl }: Options): HostHeaderReader {
  return ({ headers, socket }) => {
    const { localAddress, localPort } = socket
    const host = headers.host?.toLowerCase()
    // The application always names the service by its port.
    if (host !== undefined && end.tookIn({ socket })) return host === new URL(ownUrl()).host ? host : ''
    if (host === undefined || localAddress === undefined || localPort === undefined) return ''
    const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '')
    const [, name = '', port = scheme === 'https' ? '443' : '80'] = /^(.+?)(?::(\d+))?$/.exec(host) ?? []
    if (Number(port) !== localPort) return ''
    const isOurs =
      name === listenHost.toLowerCase() ||
      formatHostAndPort({ host: address, port: localPort }) === `${name}:${localPort}` ||
      (isLoopback(address) && isLoopbackName(name))
    return isOurs ? host : ''
  }
}
