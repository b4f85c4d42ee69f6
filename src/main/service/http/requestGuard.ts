import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../../../shared/appError.ts'

export type RequestGuard = {
  /**
   * Turns away what a page of somebody else can make a browser send: names that were rebound to this machine, and
   * requests from other origins.
   * @throws AppError `auth/host`, `auth/origin`
   * @see https://owasp.org/www-community/attacks/DNS_Rebinding
   */
  check(headers: IncomingHttpHeaders): void
}

type Options = {
  /** Whether other machines can reach the service: it may then be called by its number, and by its public name. */
  beyondLoopback: boolean
  listenHost: string
  publicUrl: URL | undefined
  scheme: 'http' | 'https'
}

export function requestGuard({ beyondLoopback, listenHost, publicUrl, scheme }: Options): RequestGuard {
  const allowed = (host: string): boolean => {
    const name = hostName(host)
    if (name === undefined) return false
    if (isLoopbackName(name) || name === listenHost.toLowerCase()) return true
    if (publicUrl && name === publicUrl.hostname) return true
    return beyondLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0
  }
  return {
    check({ host, origin }) {
      if (host === undefined || !allowed(host)) {
        throw new AppError('auth/host', `This service does not answer to the host \`${shown(host)}\`.`)
      }
      if (origin === undefined) return
      if (origin === `${scheme}://${host}`.toLowerCase() || origin === publicUrl?.origin) return
      throw new AppError('auth/origin', `Pages of \`${shown(origin)}\` may not call this service.`)
    },
  }
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '127.0.0.1' || name === '[::1]'
}

/** Name of a Host header, lower-case and without the port; undefined when it is none. */
function hostName(host: string): string | undefined {
  return host.toLowerCase().match(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/)?.[1]
}

function shown(value: string | undefined): string {
  return (value ?? '').slice(0, 200)
}
