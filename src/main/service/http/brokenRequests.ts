import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorBody } from '../../../shared/appError.ts'

/** Answers on the bare connection: for what never becomes a request of the server. */
export function answerBare(
  stream: Duplex,
  given: { status: number; body: ErrorBody; headers?: readonly string[] },
): void {
  if (!stream.writable) return
  const body = JSON.stringify(given.body)
  const lines = [
    `HTTP/1.1 ${given.status} ${STATUS_CODES[given.status] ?? 'Refused'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(given.headers ?? []),
    'Cache-Control: no-store',
    'Connection: close',
  ]
  stream.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
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
