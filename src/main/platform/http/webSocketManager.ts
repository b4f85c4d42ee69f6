import { type WebSocket, WebSocketServer } from 'ws'
import { streamClose } from '#shared/contract/terminalStream.ts'
import type { Log } from '../logging/log.ts'
import type { Upgrade } from './exchange.ts'

/** WebSockets of one server, which are monitored until they close. */
export type WebSockets = {
  /** Performs the handshake. The caller has authorized the client. */
  open(upgrade: Upgrade, opened: WebSocketOptions): void
  /** Closes all sockets with a going-away code. Terminates the remaining ones after a grace period. */
  close(): Promise<void>
}

type WebSocketOptions = {
  serve: (socket: WebSocket) => void
  /** Aborts when the access of the peer ends. Absent: access does not end. */
  ended?: AbortSignal | undefined
}

type Options = {
  maxPayloadBytes: number
  log: Log
}

/** Interval of pings. A peer that did not respond to the last one is terminated. */
const pingIntervalMs = 30_000
const closeTimeoutMs = 1000

export function createWebSocketManager({ maxPayloadBytes, log }: Options): WebSockets {
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    // A browser requires one of the protocols that it offered.
    handleProtocols: (offered) => (offered.has('steward') ? 'steward' : ([...offered][0] ?? false)),
  })
  const peers = new Map<WebSocket, { answered: boolean }>()
  let emptied: (() => void) | undefined

  const endAccess = (socket: WebSocket): void => {
    socket.removeAllListeners('message') // messages before the close are ignored
    socket.close(streamClose.accessEnded, 'Access has ended')
    const cutOff = setTimeout(() => socket.terminate(), closeTimeoutMs)
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
  }, pingIntervalMs)
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
        socket.on('message', alive) // the pong may be queued behind messages that the peer reads slowly
        socket.on('error', (error) => log.debug('WebSocket failed', { error }))
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
        }, closeTimeoutMs)
        await new Promise<void>((resolve) => {
          emptied = resolve
        })
        clearTimeout(cutOff)
      }
      acceptor.close()
    },
  }
}
