import type { IncomingHttpHeaders } from 'node:http'

export const tokenProtocol = 'steward.token.'

/** Browsers cannot set headers on a WebSocket: pages opened by a terminal link send their token as a subprotocol. */
export function findProtocolToken(headers: IncomingHttpHeaders): string | undefined {
  return headers['sec-websocket-protocol']
    ?.split(',')
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(tokenProtocol))
    ?.slice(tokenProtocol.length)
}
