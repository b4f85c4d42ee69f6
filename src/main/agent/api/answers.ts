import type { ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../../shared/appError.ts'
import { sheetHostName } from '../../../shared/contract/wallet.ts'

/** On everything the agent itself answers. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
} as const

/**
 * Whose pages may be shown within ours: the sheets of the wallet, and exposed ports below `localhost`, each an origin
 * of its own. Ports that a proxy serves open in a tab.
 */
export function frameSources({ port, serviceUrl }: { port: number; serviceUrl: string | undefined }): string {
  const service = new URL(serviceUrl ?? 'about:blank')
  const previews = service.protocol === 'http:' ? [`http://*.localhost:${service.port || 80}`] : []
  return [`http://${sheetHostName}:${port}`, ...previews].join(' ')
}

/** xterm.js and the dialogs put style elements into the page, hence `unsafe-inline` for styles alone. */
export function pageHeaders(host: string, frames: string) {
  return {
    ...securityHeaders,
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      `connect-src 'self' ws://${host}`,
      "img-src 'self' data:",
      "font-src 'self'",
      `frame-src ${frames}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
  }
}

const dataHeaders = {
  ...securityHeaders,
  'content-type': 'application/json; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/**
 * On what the service answers, whatever it says itself: opened as a page it does nothing, and is nobody. The styles are
 * those of drawings in an `img` of ours.
 */
export const forwardedAnswerHeaders = {
  ...securityHeaders,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** On a body of bytes, beside its own. */
export const bytesHeaders = { ...dataHeaders, 'content-type': 'application/octet-stream' } as const

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  const text = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { ...dataHeaders, ...headers, 'content-length': text.length })
  response.end(text)
}

/** To a place that is not of this origin. */
export function sendElsewhere(response: ServerResponse, url: string): void {
  response.writeHead(307, { ...forwardedAnswerHeaders, location: url, 'content-length': 0 })
  response.end()
}

export function sendError(response: ServerResponse, failure: AppError, headers = {}): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  sendJson(response, failure.status, failure.toBody(), { ...retryHeader(failure), ...headers })
}

/** For a socket that asked to become a WebSocket and may not. */
export function refuseUpgrade(socket: Duplex, failure: AppError): void {
  const body = JSON.stringify(failure.toBody())
  const headers = {
    ...dataHeaders,
    ...retryHeader(failure),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
}

export function asAppError(failure: unknown): AppError {
  if (failure instanceof AppError) return failure
  return new AppError('internal/unexpected', 'Something went wrong in Steward.', { cause: failure })
}

function retryHeader({ retryAfterSeconds }: AppError): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
}
