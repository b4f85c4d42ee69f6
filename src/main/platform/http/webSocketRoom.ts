import { type WebSocket, WebSocketServer } from 'ws'
import { streamClose } from '#shared/contract/terminalStream.ts'
import type { Log } from '../log.ts'
import type { Upgrade } from './exchange.ts'

/** The WebSockets of one server, watched until they end. */
export type WebSockets = {
  /** The handshake; who may open it was checked before. */
  open(upgrade: Upgrade, opened: Opened): void
  /** Tells every peer that the server goes away, and cuts off who has not left after a moment. */
  close(): Promise<void>
}

type Opened = {
  serve: (socket: WebSocket) => void
  /** Fires when the access of the peer ends. Absent: it stays. */
  ended?: AbortSignal | undefined
}

type Options = {
  /** Maximum size of one message of a peer. */
  maxPayloadBytes: number
  log: Log
}

/** Interval of pings. A peer that did not answer the last one is cut off. */
const checkEveryMs = 30_000
const leaveWithinMs = 1000

export function createWebSocketRoom({ maxPayloadBytes, log }: Options): WebSockets {
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    // A browser insists on one of those it offered.
    handleProtocols: (offered) => (offered.has('steward') ? 'steward' : ([...offered][0] ?? false)),
  })
  const peers = new Map<WebSocket, { answered: boolean }>()
  let emptied: (() => void) | undefined

  const endAccess = (socket: WebSocket): void => {
    socket.removeAllListeners('message') // what it sends until it has left counts no longer
    socket.close(streamClose.accessEnded, 'Access has ended')
    const cutOff = setTimeout(() => socket.terminate(), leaveWithinMs)
    socket.once('close', () => clearTimeout(cutOff))
  }
  const timer = setInterval(() => {
    for (const [socket, peer] of peers) {
      if (!peer.answered) socket.terminate()
      else {
        peer.answered = false
        socket.ping()
      }
    }
  }, checkEveryMs)
  timer.unref()

  return {
    open({ request, stream, head }, { serve, ended }) {
      acceptor.handleUpgrade(request, stream, head, (socket) => {
        const peer = { answered: true }
        const alive = (): void => {
          peer.answered = true
        }
        peers.set(socket, peer)
        socket.on('pong', alive)
        socket.on('message', alive) // its pong may still wait behind what it reads slowly
        socket.on('error', (error) => log.debug('a WebSocket failed', { error }))
        socket.once('close', () => {
          peers.delete(socket)
          if (peers.size === 0) emptied?.()
        })
        serve(socket)
        if (ended?.aborted) endAccess(socket)
        else ended?.addEventListener('abort', () => endAccess(socket), { once: true })
      })
    },
    async close() {
      clearInterval(timer)
      if (peers.size > 0) {
        for (const socket of peers.keys()) socket.close(1001, 'Steward is stopping')
        const cutOff = setTimeout(() => {
          for (const socket of peers.keys()) socket.terminate()
        }, leaveWithinMs)
        await new Promise<void>((resolve) => {
          emptied = resolve
        })
        clearTimeout(cutOff)
      }
      acceptor.close()
    },
  }
}
