import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { createOriginGuard } from '#platform/http/originGuard.ts'
import { isNameMatch } from './certificateNames.ts'

/** @throws AppError `auth/host`, `auth/origin` */
export type RequestGuard = (headers: IncomingHttpHeaders) => void

type Options = {
  /** Whether other computers can reach the service. Requests may then use its IP address or its public name. */
  beyondLoopback: boolean
  listenHost: string
  publicUrl: URL | undefined
  /** Host names of the certificate, including wildcards. */
  certificateNames?: readonly string[]
  scheme: 'http' | 'https'
}

export function createRequestGuard({
  beyondLoopback,
  listenHost,
  publicUrl,
  certificateNames = [],
  scheme,
}: Options): RequestGuard {
  return createOriginGuard({
    name: 'This service',
    isOwnHost(host) {
      const name = parseHostName(host)
      if (name === undefined) return false
      if (isLoopbackName(name) || name === listenHost.toLowerCase()) return true
      if (publicUrl && name === publicUrl.hostname) return true
      if (certificateNames.some((pattern) => isNameMatch(name, pattern))) return true
      return beyondLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0
    },
    isOwnOrigin: (origin, host) => origin === `${scheme}://${host}` || origin === publicUrl?.origin,
  })
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '127.0.0.1' || name === '[::1]'
}

/** @returns the host name of a Host header without the port, or undefined if the header is invalid */
function parseHostName(host: string): string | undefined {
  return host.match(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/)?.[1]
}
