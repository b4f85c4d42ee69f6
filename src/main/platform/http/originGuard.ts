import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '#shared/appError.ts'

type Options = {
  /** How what is guarded is called in a sentence. */
  name: string
  /** Of a Host header, in lower case. */
  isOwnHost: (host: string) => boolean
  /** Of an Origin header; `host` is the one that the request names, in lower case. */
  isOwnOrigin: (origin: string, host: string) => boolean
}

/**
 * Turns away what a page of somebody else can make a browser send: names that were rebound to this machine, and
 * requests from other origins.
 * @returns what throws AppError `auth/host`, `auth/origin`
 * @see https://owasp.org/www-community/attacks/DNS_Rebinding
 */
export function originGuard({ name, isOwnHost, isOwnOrigin }: Options): (headers: IncomingHttpHeaders) => void {
  return ({ host: given, origin }) => {
    const host = given?.toLowerCase()
    if (host === undefined || !isOwnHost(host)) {
      throw new AppError('auth/host', `${name} does not answer to the host \`${shown(given)}\`.`)
    }
    if (origin !== undefined && !isOwnOrigin(origin.toLowerCase(), host)) throw foreignPage(name, origin)
  }
}

export function foreignPage(name: string, origin: string): AppError {
  return new AppError('auth/origin', `Pages of \`${shown(origin)}\` may not call ${lowerFirst(name)}.`)
}

function shown(value: string | undefined): string {
  return (value ?? '').slice(0, 200)
}

function lowerFirst(name: string): string {
  return name.replace(/^This /, 'this ')
}
