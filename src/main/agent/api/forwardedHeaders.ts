import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** Of one connection, or of our own pages: none of the service's business. */
const ownToRequests = new Set([
  'host',
  'cookie',
  'origin',
  'referer',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])
const ownToAnswers = new Set(['connection', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade', 'set-cookie'])

/**
 * What goes on to the service. A caller that brings an API key of its own acts with it; the person's session acts with
 * the owner's; anybody else is the service's to turn away.
 * @param key the owner's, when the request belongs to the person's session
 */
export function requestHeaders(request: IncomingMessage, key: string | undefined): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || ownToRequests.has(name) || name.startsWith('sec-fetch-')) continue
    kept[name] = value
  }
  if (key !== undefined && !bringsKey(request.headers)) kept.authorization = `Bearer ${key}`
  return kept
}

export function answerHeaders(headers: IncomingHttpHeaders | Record<string, string | string[] | undefined>) {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ownToAnswers.has(name)) kept[name] = value
  }
  return kept
}

/** An empty header counts too: it is a key that the service refuses, not one that is missing. */
function bringsKey(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
