import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorBody } from '#shared/appError.ts'
import { type Log, toLoggedError } from '../logging/log.ts'

/** Converts any error to an AppError for the caller. Logs unexpected errors and omits their details. */
export function toAppError(
  error: unknown,
  log: Log,
  context: { method: string; route: string | undefined; requestId: string | undefined },
): AppError {
  if (error instanceof AppError) {
    if (error.status >= 500) log.warn('request failed', { ...context, error: toLoggedError(error) })
    return error
  }
  log.error('request failed unexpectedly', { ...context, error })
  return new AppError('internal/unexpected', 'Something unexpected went wrong in Steward.', { cause: error })
}

/** Value of `Retry-After` if the actual delay is unknown. */
const defaultRetrySeconds = 5

/**
 * Builds the headers of an error response. A 401 response includes the authentication scheme:
 * https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 */
export function createErrorHeaders({ status, retryAfterSeconds, headers }: AppError): Record<string, string> {
  const soonSeconds = retryAfterSeconds ?? (status === 429 || status === 503 ? defaultRetrySeconds : undefined)
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(soonSeconds !== undefined && { 'retry-after': String(soonSeconds) }),
    ...headers,
  }
}

/** Statuses for which a retry has the same result. */
const permanentStatuses = new Set([400, 401, 402, 403, 404, 409, 413])
/** Codes of 503 errors that persist until the user acts. */
const isUnconfigured = ({ code }: AppError): boolean => code.endsWith('/unconfigured')

/** Builds the header that tells SDKs of model providers whether to retry. Their retries can take minutes. */
export function retryHeader(error: AppError): Record<string, string> {
  const { status } = error
  if (permanentStatuses.has(status) || (status === 503 && isUnconfigured(error))) return { 'x-should-retry': 'false' }
  return status === 429 || status === 503 ? { 'x-should-retry': 'true' } : {}
}

/** Refuses an upgrade. Writes to the socket, because there is no `ServerResponse`. */
export function refuseUpgrade(stream: Duplex, error: AppError, headers: Readonly<Record<string, string>> = {}): void {
  writeRawResponse(stream, {
    status: error.status,
    body: error.toBody(),
    headers: { ...headers, ...createErrorHeaders(error) },
  })
}

/** Responds to a request that the parser of Node.js rejects. */
export function rejectMalformedRequest(error: Error & { code?: string }, stream: Duplex): void {
  if (error.code === 'ECONNRESET') {
    stream.destroy()
    return
  }
  const [status, sentence] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The headers are too long.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request was not received in time.']
        : [400, 'The request is not valid HTTP.']
  writeRawResponse(stream, {
    status: Number(status),
    body: new AppError('request/malformed', String(sentence)).toBody(),
  })
}

/**
 * Reads and discards the rest of a refused body for a moment, so that a client that is still sending receives the
 * response instead of a connection reset. Then closes the connection.
 */
export function drainBody(request: IncomingMessage): void {
  if (request.complete) return
  const timer = setTimeout(() => request.socket.destroy(), 3000)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}

type RawResponse = { status: number; body: ErrorBody; headers?: Readonly<Record<string, string>> }

/** Writes a response to the raw socket and closes it, for requests that do not reach the handlers. */
function writeRawResponse(stream: Duplex, { status, body, headers = {} }: RawResponse): void {
  if (!stream.writable) return
  const text = JSON.stringify(body)
  const reply = {
    'cache-control': 'no-store',
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }
  const lines = Object.entries(reply).map(([name, value]) => `${name}: ${value}\r\n`)
  stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${lines.join('')}\r\n${text}`)
}
