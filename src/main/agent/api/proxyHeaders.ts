import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { endToEnd, type HeaderList } from '#platform/http/endToEndHeaders.ts'
import { windowKeyHeader, windowProtocol } from '#shared/contract/localApi.ts'
import { originatorHeader } from '#shared/contract/originator.ts'
import { taskHeader } from '#shared/contract/timelineLinks.ts'
import { uploadOffsetHeader } from '#shared/contract/uploads.ts'
import { createTaskId } from '../base/taskContext.ts'
import { hasWindowKey, stripWindowProtocols } from './readWindowProof.ts'
import { forwardedResponseHeaders } from './securityHeaders.ts'

/** Credentials and hop-by-hop headers of requests to the agent, which are never forwarded. */
const droppedRequestHeaders = new Set([
  'host',
  'cookie',
  'origin',
  'referer',
  'expect',
  windowKeyHeader,
  taskHeader,
  originatorHeader,
])

/**
 * Response headers that are forwarded. All others are dropped: a hosted service may be hostile and try to act on this
 * origin with cookies, redirects, workers or policies.
 */
const forwardedResponseHeaderNames = new Set([
  'accept-ranges',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'idempotent-replayed',
  'last-modified',
  'request-id',
  'payment-required',
  'payment-response',
  'retry-after',
  'x-payment-required',
  'x-payment-response',
  'x-request-id',
  'x-should-retry',
  'x-steward-max-tokens',
  'x-steward-warnings',
  uploadOffsetHeader.toLowerCase(),
])
const protocolHeader = 'sec-websocket-protocol'
const handshakeHeaders = ['sec-websocket-accept', 'sec-websocket-extensions', protocolHeader] as const

/** Data, events, and images that no browser renders as a page. Any other content type is forwarded as a download. */
const passiveContentTypes =
  /^(application\/(json|octet-stream|x-tar|gzip|zip)|text\/(plain|event-stream)|image\/(png|jpeg|gif|webp|avif|bmp|x-icon))\s*(;|$)/i
/** Scripts in an SVG do not run in an `<img>`, but would run if opened as a page. */
const svgContentType = /^image\/svg\+xml\s*(;|$)/i

/**
 * Builds the headers of a request to the service. A caller's own API key is forwarded; a request of the user's session
 * gets the owner's key. The service rejects all others.
 * @param key the owner's key, for requests of the user's session
 */
export function createRequestHeaders(request: IncomingMessage, key: string | undefined): HeaderList {
  const headers: HeaderList = {}
  const goesOn = endToEnd(request)
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || !goesOn(name) || droppedRequestHeaders.has(name) || name.startsWith('sec-fetch-'))
      continue
    headers[name] = value
  }
  if (key !== undefined && !hasApiKey(request.headers)) {
    headers.authorization = `Bearer ${key}`
    if (isChange(request)) headers[taskHeader] = createTaskId('action')
  }
  if (hasWindowKey(request)) {
    const others = stripWindowProtocols(String(headers[protocolHeader]))
    if (others.length > 0) headers[protocolHeader] = others.join(', ')
    else delete headers[protocolHeader]
  }
  return headers
}

/** Builds the headers of a response. Prevents service content from becoming active content on this origin. */
export function createResponseHeaders(answer: IncomingMessage): HeaderList {
  const { headers } = answer
  const forwarded: HeaderList = { ...forwardedResponseHeaders }
  const goesOn = endToEnd(answer)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && forwardedResponseHeaderNames.has(name) && goesOn(name)) forwarded[name] = value
  }
  // Any other challenge would make browsers prompt for a password on this origin.
  if (headers['www-authenticate'] === 'Bearer') forwarded['www-authenticate'] = 'Bearer'
  const type = String(headers['content-type'] ?? '')
  if (type === '' || passiveContentTypes.test(type)) return forwarded
  if (!svgContentType.test(type)) forwarded['content-type'] = 'application/octet-stream'
  if (!/^attachment\b/i.test(String(forwarded['content-disposition'] ?? '')))
    forwarded['content-disposition'] = 'attachment'
  return forwarded
}

/**
 * Builds the headers of an accepted handshake. The agent itself selects the subprotocol if it was offered only to the
 * agent.
 */
export function createHandshakeHeaders({ headers }: IncomingMessage, request: IncomingMessage): HeaderList {
  const forwarded: HeaderList = {}
  if (hasWindowKey(request)) forwarded[protocolHeader] = windowProtocol.agreed
  for (const name of handshakeHeaders) {
    const value = headers[name]
    if (typeof value === 'string') forwarded[name] = value
  }
  return forwarded
}

function isChange({ method = 'GET' }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/**
 * Whether the request has a key. An empty header counts: the service rejects it, rather than treating it as missing.
 */
function hasApiKey(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
