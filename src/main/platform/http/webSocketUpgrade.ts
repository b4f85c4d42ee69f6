import type { IncomingMessage } from 'node:http'

/**
 * Whether a request upgrades to WebSocket, the only protocol that the servers support. Any other `Upgrade`, such as
 * `h2c`, is ignored and the request is handled as usual: https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function isWebSocketUpgrade({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket'
}
