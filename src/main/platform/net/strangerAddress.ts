import { isIP } from 'node:net'
import { isPublicAddress } from './publicAddress.ts'

/**
 * Parses an untrusted URL: a public host over https, or a server on this computer, which the caller accepts or rejects
 * with `isThisComputer`. Names are resolved and checked when connecting (`isConnectionAllowed`), which prevents DNS rebinding.
 * @param refused creates the error
 */
export function parseUntrustedUrl(address: string, refused: (message: string) => Error): URL {
  const url = URL.parse(address)
  if (!url || !/^[\x21-\x7e]+$/.test(address)) throw refused(`${JSON.stringify(address)} is not a valid URL.`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(`${url.protocol} URLs are not supported.`)
  if (url.username !== '' || url.password !== '') throw refused('The URL must not have a user name.')
  const local = isLocalName(url.hostname)
  if (url.protocol === 'http:' && !local) throw refused(`Use https for ${url.host}.`)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  if (!local && isIP(literal) !== 0 && !isPublicAddress(literal)) throw refused(`${url.host} is a private address.`)
  url.hash = ''
  return url
}

/** Whether a URL from `parseUntrustedUrl` is a server on this computer. */
export function isLocalServer({ hostname }: URL): boolean {
  return isLocalName(hostname)
}

/** Whether a connection to this address is allowed for the host name. */
export function isConnectionAllowed(address: string, hostname: string): boolean {
  return isLocalName(hostname) ? isLoopback(address) : isPublicAddress(address)
}

function isLocalName(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '').replace(/[.]$/, '')
  return isLoopback(literal) || literal === 'localhost' || literal.endsWith('.localhost')
}

function isLoopback(address: string): boolean {
  return /^127(\.\d{1,3}){3}$/.test(address) || address === '::1'
}
