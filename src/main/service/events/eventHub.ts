import type { WebSocket } from 'ws'
import { z } from 'zod'
import { eventsPath, type ServiceEvent } from '#shared/contract/events.ts'
import { streamClose } from '#shared/contract/terminalStream.ts'
import type { AccountId } from '#shared/ids.ts'
import { createSocketEndpoint, type SocketEndpoint } from '../base/endpoint.ts'

export type EventHub = {
  /**
   * Publishes without waiting. A client that does not read is disconnected, and reloads its lists after it reconnects.
   */
  publish(accountId: AccountId, event: ServiceEvent): void
  publishToAll(event: ServiceEvent): void
  /** Notifies subscribers to reload all lists, because they may have missed events. */
  publishReady(): void
  endpoint: SocketEndpoint
}

const maxWaitingBytes = 1024 * 1024

export function createEventHub(): EventHub {
  const listeners = new Map<AccountId, Set<WebSocket>>()
  const ready = JSON.stringify({ type: 'ready' } satisfies ServiceEvent)

  const tell = (socket: WebSocket, text: string): void => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > maxWaitingBytes) socket.close(streamClose.tooSlow, 'Too slow')
    else socket.send(text)
  }
  const tellAll = (text: string): void => {
    for (const sockets of listeners.values()) for (const socket of sockets) tell(socket, text)
  }

  return {
    publish(accountId, event) {
      const sockets = listeners.get(accountId)
      if (!sockets) return
      const text = JSON.stringify(event)
      for (const socket of sockets) tell(socket, text)
    },
    publishToAll: (event) => tellAll(JSON.stringify(event)),
    publishReady: () => tellAll(ready),
    endpoint: createSocketEndpoint({
      path: eventsPath,
      params: z.object({}),
      query: z.object({}),
      linkMayUse: false,
      work: 'event-socket',
      serve(socket, _, { accountId }) {
        const sockets = listeners.get(accountId) ?? new Set<WebSocket>()
        listeners.set(accountId, sockets.add(socket))
        socket.once('close', () => {
          sockets.delete(socket)
          if (sockets.size === 0) listeners.delete(accountId)
        })
        tell(socket, ready)
      },
    }),
  }
}
