import type { IncomingMessage } from 'node:http'
import { linkText, windowKeyHeader, windowLink, windowProtocol } from '#shared/contract/localApi.ts'
import type { WindowProof } from './userSessions.ts'

/**
 * Creates the proof that a request with the session cookie comes from the window's origin. The cookie alone is
 * insufficient, because browsers send it to every port of this host.
 * @param now Unix time in milliseconds
 */
export function readWindowProof(
  request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>,
  now: number,
): WindowProof | undefined {
  const key = request.headers[windowKeyHeader] ?? readProtocolKey(request)
  if (typeof key === 'string') return { key }
  const method = request.method
  return method === 'GET' || method === 'HEAD' ? readLinkProof(request.url ?? '/', now) : undefined
}

/** Removes the signature of a window link from a URL. */
export function stripLinkSignature(url: string): string {
  return splitLink(url)?.address ?? url
}

/** Removes the window's internal WebSocket subprotocols. */
export function stripWindowProtocols(offered: string): string[] {
  return parseProtocols(offered).filter(
    (name) => name !== windowProtocol.agreed && !name.startsWith(windowProtocol.withKey),
  )
}

export function hasWindowKey({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return readProtocolKey({ headers }) !== undefined
}

function readProtocolKey({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const offered = parseProtocols(headers['sec-websocket-protocol'] ?? '')
  return offered.find((name) => name.startsWith(windowProtocol.withKey))?.slice(windowProtocol.withKey.length)
}

function readLinkProof(url: string, now: number): WindowProof | undefined {
  const link = splitLink(url)
  if (!link || link.until * 1000 < now || link.until * 1000 > now + windowLink.seconds * 1000) return undefined
  return { signed: linkText(link.until, link.address), signature: Buffer.from(link.signature, 'base64url') }
}

const linkAtEnd = new RegExp(
  `^(?<address>.*)[?&]${windowLink.parameter}=(?<until>\\d{1,12})\\.(?<signature>[\\w-]{43})$`,
)

function splitLink(url: string): { address: string; until: number; signature: string } | undefined {
  const { address, until, signature } = linkAtEnd.exec(url)?.groups ?? {}
  if (address === undefined || until === undefined || signature === undefined) return undefined
  return { address, until: Number(until), signature }
}

function parseProtocols(offered: string): string[] {
  return offered.split(',').map((name) => name.trim())
}
