import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '#shared/appError.ts'

type Options = {
  /** Name of the guarded server in error messages. */
  name: string
  /** Whether a Host header is accepted. Receives it in lower case. */
  isOwnHost: (host: string) => boolean
  /** Whether an Origin header is accepted; `host` is the Host header, in lower case. */
  isOwnOrigin: (origin: string, host: string) => boolean
}

/**
 * Creates a guard against requests from foreign pages: DNS rebinding and cross-origin requests.
 * @returns a function that throws AppError `auth/host`, `auth/origin`
 * @see https://owasp.org/www-community/attacks/DNS_Rebinding
 */
export function createOriginGuard({ name, isOwnHost, isOwnOrigin }: Options): (headers: IncomingHttpHeaders) => void {
  return ({ host: requestHost, origin }) => {
    const host = requestHost?.toLowerCase()
    if (host === undefined || !isOwnHost(host)) {
      throw new AppError('auth/host', `${name} does not serve the host \`${quoteValue(requestHost)}\`.`)
    }
    if (origin !== undefined && !isOwnOrigin(origin.toLowerCase(), host)) throw createForeignOriginError(name, origin)
  }
}

export function createForeignOriginError(name: string, origin: string): AppError {
  return new AppError('auth/origin', `Pages of \`${quoteValue(origin)}\` cannot call ${lowerFirst(name)}.`)
}

function quoteValue(value: string | undefined): string {
  return (value ?? '').slice(0, 200)
}

function lowerFirst(name: string): string {
  return name.replace(/^This /, 'this ')
}
