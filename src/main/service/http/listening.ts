import { AppError } from '../../../shared/appError.ts'
import { hostAndPort, isLoopback, type ListenAddress } from '../../platform/listenAddress.ts'

/** @throws AppError `listen/insecure` when what is said would cross a network in the clear. */
export function checkListening(given: { listen: ListenAddress; tls: boolean; insecureBehindProxy: boolean }): {
  beyondLoopback: boolean
} {
  const beyondLoopback = !isLoopback(given.listen.host)
  if (beyondLoopback && !given.tls && !given.insecureBehindProxy) {
    throw new AppError(
      'listen/insecure',
      `Listening on ${given.listen.host} without TLS would send keys and terminals over the network in the clear.`,
    )
  }
  return { beyondLoopback }
}

/** Where this machine reaches it. */
export function localUrl({ host, port }: ListenAddress, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' || host === 'localhost' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${hostAndPort({ host: reachable, port })}`
}
