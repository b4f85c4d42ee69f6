import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopbackAddress, toClientNetwork } from './clientNetwork.ts'

/**
 * Closes connections of one address beyond `max`. Ignores loopback connections, because many programs share that
 * address.
 */
export function limitConnections(server: Server, max: number): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    if (isLoopbackAddress(remoteAddress)) return
    const network = toClientNetwork(remoteAddress)
    const count = (counts.get(network) ?? 0) + 1
    if (count > max) {
      socket.destroy()
      return
    }
    counts.set(network, count)
    socket.once('close', () => {
      const rest = (counts.get(network) ?? 1) - 1
      if (rest > 0) counts.set(network, rest)
      else counts.delete(network)
    })
  })
}
