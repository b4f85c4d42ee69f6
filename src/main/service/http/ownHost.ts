import type { IncomingMessage } from 'node:http'
import { hostAndPort, isLoopback } from '../../platform/listenAddress.ts'
import { isLoopbackName } from './requestGuard.ts'

/** The Host header of a request, where it names the very place that the request came to; otherwise empty. */
export type OwnHost = (request: Pick<IncomingMessage, 'headers'> & { socket: OwnEnd }) => string
type OwnEnd = { localAddress?: string | undefined; localPort?: number | undefined }

/**
 * Whoever calls chooses the Host header, so that one is believed only where the socket bears it out: with it a message that was signed
 * for another place could be used here.
 */
export function ownHost({ listenHost, scheme }: { listenHost: string; scheme: 'http' | 'https' }): OwnHost {
  return ({ headers, socket: { localAddress, localPort } }) => {
    const host = headers.host?.toLowerCase()
    if (host === undefined || localAddress === undefined || localPort === undefined) return ''
    const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '')
    const [, name = '', port = scheme === 'https' ? '443' : '80'] = /^(.+?)(?::(\d+))?$/.exec(host) ?? []
    if (Number(port) !== localPort) return ''
    const isOurs =
      name === listenHost.toLowerCase() ||
      hostAndPort({ host: address, port: localPort }) === `${name}:${localPort}` ||
      (isLoopback(address) && isLoopbackName(name))
    return isOurs ? host : ''
  }
}
