import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorBody } from '#shared/appError.ts'
import { type Log, loggedFailure } from '../log.ts'

/** What a caller is told of a failure; whatever was not expected is logged and told without its internals. */
export function toAppError(
  failure: unknown,
  log: Log,
  where: { method: string; path: string; requestId: string | undefined },
): AppError {
  if (failure instanceof AppError) {
    if (failure.status >= 500) log.warn('a request failed', { ...where, failure: loggedFailure(failure) })
    return failure
  }
  log.error('a request failed unexpectedly', { ...where, failure })
  return new AppError('internal/unexpected', 'Something unexpected went wrong in Steward.', { cause: failure })
}

/** Where nobody knows when there will be room. */
const usualRetrySeconds = 5

/** What the headers of a refusal tell beside its body. A 401 names the way in: https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1 */
export function failureHeaders({ status, retryAfterSeconds, headers }: AppError): Record<string, string> {
  const soonSeconds = retryAfterSeconds ?? (status === 429 || status === 503 ? usualRetrySeconds : undefined)
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(soonSeconds !== undefined && { 'retry-after': String(soonSeconds) }),
    ...headers,
  }
}

/** Statuses that a retry gets again. */
const lasting = new Set([400, 401, 402, 403, 404, 409, 413])
/** Codes of 503 errors that persist until the user acts. */
const isUnconfigured = ({ code }: AppError): boolean => code.endsWith('/unconfigured')

/** Builds the header by which SDKs of model providers decide whether to retry, which can take minutes. */
export function retryHeader(failure: AppError): Record<string, string> {
  const { status } = failure
  if (lasting.has(status) || (status === 503 && isUnconfigured(failure))) return { 'x-should-retry': 'false' }
  return status === 429 || status === 503 ? { 'x-should-retry': 'true' } : {}
}

/** Of an upgrade, whose connection has no response to write to. */
export function refuseUpgrade(stream: Duplex, failure: AppError, headers: Readonly<Record<string, string>> = {}): void {
  answerBare(stream, {
    status: failure.status,
    body: failure.toBody(),
    headers: { ...headers, ...failureHeaders(failure) },
  })
}

/** What the parser of Node could not read. */
export function answerBrokenRequest(failure: Error & { code?: string }, stream: Duplex): void {
  if (failure.code === 'ECONNRESET') {
    stream.destroy()
    return
  }
  const [status, sentence] =
    failure.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The headers are too long.']
      : failure.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request was not sent in time.']
        : [400, 'This is not HTTP.']
  answerBare(stream, { status: Number(status), body: new AppError('request/malformed', String(sentence)).toBody() })
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

type BareAnswer = { status: number; body: ErrorBody; headers?: Readonly<Record<string, string>> }

/** Answers on the bare connection, which ends with it: for what never becomes a request of the server. */
function answerBare(stream: Duplex, { status, body, headers = {} }: BareAnswer): void {
  if (!stream.writable) return
  const text = JSON.stringify(body)
  const sent = {
    'cache-control': 'no-store',
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${lines.join('')}\r\n${text}`)
}
