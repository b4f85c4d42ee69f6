import { formatHostAndPort, isLoopback, type ListenAddress } from '#platform/net/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { readCertificateNames } from './certificateNames.ts'

/** @throws AppError `listen/insecure` if traffic would cross a network unencrypted */
export function checkListening(options: { listen: ListenAddress; tls: boolean; insecureBehindProxy: boolean }): {
  beyondLoopback: boolean
} {
  const beyondLoopback = !isLoopback(options.listen.host)
  if (beyondLoopback && !options.tls && !options.insecureBehindProxy) {
    throw new AppError(
      'listen/insecure',
      `Listening on ${options.listen.host} without TLS would send keys and terminals unencrypted over the network.`,
    )
  }
  return { beyondLoopback }
}

/**
 * Checks that requests beyond loopback have a known host name: a name of the certificate or of `service.public_url`.
 * @throws AppError `config/invalid` if there is neither
 */
export function requireOwnName({ tls, publicUrl }: Named, beyondLoopback: boolean): void {
  if (!beyondLoopback || !tls || publicUrl !== undefined || readCertificateNames(tls.cert).length > 0) return
  throw new AppError(
    'config/invalid',
    'The TLS certificate has no host name. Set `service.public_url` to the address that clients use.',
  )
}

type Named = { tls?: { cert: string } | undefined; publicUrl?: string | undefined }

/** Returns the URL of the server on this computer. */
export function formatLocalUrl({ host, port }: ListenAddress, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' || host === 'localhost' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${formatHostAndPort({ host: reachable, port })}`
}
