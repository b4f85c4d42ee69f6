import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { endToEnd, type HeaderList } from '#platform/http/endToEndHeaders.ts'
import { windowKeyHeader, windowProtocol } from '#shared/contract/localApi.ts'
import { requesterHeader } from '#shared/contract/requester.ts'
import { taskHeader } from '#shared/contract/timelineLinks.ts'
import { uploadOffsetHeader } from '#shared/contract/uploads.ts'
import { newTask } from '../base/taskContext.ts'
import { forwardedAnswerHeaders } from './answerHeaders.ts'
import { offersWindowKey, withoutWindowProtocols } from './windowProof.ts'

/** Of our own pages, or about the way to us: none of the service's business. */
const ownToRequests = new Set([
  'host',
  'cookie',
  'origin',
  'referer',
  'expect',
  windowKeyHeader,
  taskHeader,
  requesterHeader,
])

/**
 * What an answer may say for itself. All else stays behind: a service elsewhere may be somebody's who wants to act on
 * this origin, by cookies, redirects, workers, policies or headers that are yet to be invented.
 */
const connectionHeaders = new Set([
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
const ofHandshakes = ['sec-websocket-accept', 'sec-websocket-extensions', protocolHeader] as const

/** Data, events, and pictures that no browser takes for a page. Whatever else an answer calls itself, it is bytes to keep. */
const plainTypes =
  /^(application\/(json|octet-stream|x-tar|gzip|zip)|text\/(plain|event-stream)|image\/(png|jpeg|gif|webp|avif|bmp|x-icon))\s*(;|$)/i
/** `<img>` shows it without its scripts; by itself it would be a page. */
const drawing = /^image\/svg\+xml\s*(;|$)/i

/**
 * What goes on to the service. A caller that brings an API key of its own acts with it; the person's session acts with
 * the owner's; anybody else is the service's to turn away.
 * @param key the owner's, when the request belongs to the person's session
 */
export function requestHeaders(request: IncomingMessage, key: string | undefined): HeaderList {
  const headers: HeaderList = {}
  const goesOn = endToEnd(request)
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || !goesOn(name) || ownToRequests.has(name) || name.startsWith('sec-fetch-')) continue
    headers[name] = value
  }
  if (key !== undefined && !bringsKey(request.headers)) {
    headers.authorization = `Bearer ${key}`
    if (changesSomething(request)) headers[taskHeader] = newTask('action')
  }
  if (offersWindowKey(request)) {
    const others = withoutWindowProtocols(String(headers[protocolHeader]))
    if (others.length > 0) headers[protocolHeader] = others.join(', ')
    else delete headers[protocolHeader]
  }
  return headers
}

/** Of an answer of the service, so that nothing in it is ever active content on our own origin. */
export function answerHeaders(answer: IncomingMessage): HeaderList {
  const { headers } = answer
  const kept: HeaderList = { ...forwardedAnswerHeaders }
  const goesOn = endToEnd(answer)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && connectionHeaders.has(name) && goesOn(name)) kept[name] = value
  }
  // Any other challenge would make browsers prompt for a password on this origin.
  if (headers['www-authenticate'] === 'Bearer') kept['www-authenticate'] = 'Bearer'
  const type = String(headers['content-type'] ?? '')
  if (type === '' || plainTypes.test(type)) return kept
  if (!drawing.test(type)) kept['content-type'] = 'application/octet-stream'
  if (!/^attachment\b/i.test(String(kept['content-disposition'] ?? ''))) kept['content-disposition'] = 'attachment'
  return kept
}

/** Of a handshake that the service agreed to. A protocol that only the agent was offered, the agent agrees to. */
export function handshakeHeaders({ headers }: IncomingMessage, request: IncomingMessage): HeaderList {
  const kept: HeaderList = {}
  if (offersWindowKey(request)) kept[protocolHeader] = windowProtocol.agreed
  for (const name of ofHandshakes) {
    const value = headers[name]
    if (typeof value === 'string') kept[name] = value
  }
  return kept
}

function changesSomething({ method = 'GET' }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** An empty header counts too: it is a key that the service refuses, not one that is missing. */
function bringsKey(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
