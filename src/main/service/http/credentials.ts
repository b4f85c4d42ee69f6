import type { IncomingHttpHeaders } from 'node:http'

export const tokenProtocol = 'steward.token.'

/**
 * Finds the token in the subprotocols. Pages opened by a terminal link send it there because browsers cannot set
 * headers on a WebSocket.
 */
export function findProtocolToken(headers: IncomingHttpHeaders): string | undefined {
  return headers['sec-websocket-protocol']
    ?.split(',')
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(tokenProtocol))
    ?.slice(tokenProtocol.length)
}
