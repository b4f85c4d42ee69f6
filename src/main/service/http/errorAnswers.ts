import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../../shared/appError.ts'
import { type Log, loggedFailure } from '../../platform/log.ts'
import { answerBare } from './brokenRequests.ts'

/** What the HTTP library itself refuses, in our own words. */
const libraryErrors: Readonly<Record<string, () => AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new AppError('request/too-large', 'The body is larger than this path takes.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('request/media-type', 'The body must be `application/json`.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('request/malformed', 'The body is not as long as `Content-Length` says.'),
  FST_ERR_BAD_URL: () => new AppError('request/invalid', 'The address has a wrong percent sign.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('request/invalid', 'A part of the address is too long.'),
}

/** What a caller is told of a failure; whatever was not expected is logged and told without its internals. */
export function toAppError(failure: unknown, log: Log, where: { method: string; path: string }): AppError {
  if (failure instanceof AppError) {
    if (failure.status >= 500) log.warn('a request failed', { ...where, failure: loggedFailure(failure) })
    return failure
  }
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : ''
  const known = libraryErrors[code]
  if (known) return known()
  log.error('a request failed unexpectedly', { ...where, failure })
  return new AppError('internal/unexpected', 'Something unexpected went wrong in the service.')
}

/** Where nobody knows when there will be room. */
const usualRetrySeconds = 5

/** What the headers of a refusal tell beside its body. A 401 names the way in: https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1 */
export function refusalHeaders({ status, retryAfterSeconds }: AppError): Record<string, string> {
  const soonSeconds = retryAfterSeconds ?? (status === 429 || status === 503 ? usualRetrySeconds : undefined)
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(soonSeconds !== undefined && { 'retry-after': String(soonSeconds) }),
  }
}

/** Of an upgrade, whose connection has no response to write to. */
export function refuseUpgrade(stream: Duplex, failure: AppError): void {
  const headers = Object.entries(refusalHeaders(failure)).map(([name, value]) => `${name}: ${value}`)
  answerBare(stream, { status: failure.status, body: failure.toBody(), headers })
}

/**
 * A refused body is read and dropped for a moment, so that a client still sending gets its answer instead of a
 * broken connection; then the connection ends.
 */
export function dropRest(request: IncomingMessage): void {
  if (request.complete) return
  const timer = setTimeout(() => request.socket.destroy(), 3000)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}
