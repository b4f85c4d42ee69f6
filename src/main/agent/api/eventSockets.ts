import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, type WebSocketServer } from 'ws'
import { streamClose } from '../../../shared/contract/terminalStream.ts'
import type { LocalEvents } from '../localEvents.ts'

/** A page that leaves this much unread is cut off; it reads its lists again when it returns. */
const maxUnreadBytes = 8 * 1024 * 1024

/** `GET /local/events`: every page gets the same events, the state of the connection first. */
export function eventSockets(sent: LocalEvents, server: WebSocketServer) {
  return {
    open(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      server.handleUpgrade(request, socket, head, (page) => {
        const end = sent.subscribe((event) => {
          if (page.readyState !== WebSocket.OPEN) return
          if (page.bufferedAmount > maxUnreadBytes) page.close(streamClose.tooSlow, 'Too much is unread.')
          else page.send(JSON.stringify(event))
        })
        page.on('error', () => {}) // `close` follows
        page.on('close', end)
      })
    },
  }
}
