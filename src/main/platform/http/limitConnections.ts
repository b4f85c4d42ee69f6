import type { Server } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

/**
 * Closes connections of one address beyond `max`. Connections from this computer are not counted, since many programs
 * share its address.
 */
export function limitConnections(server: Server, max: number): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const network = toNetwork(socket.remoteAddress ?? '')
    if (network === undefined) return
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

/** @returns the address, or the /64 of an IPv6 address, which one subscriber has; undefined for loopback */
export function toNetwork(address: string): string | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (plain === '::1' || plain.startsWith('127.')) return undefined
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const behind = tail === '' ? [] : tail.split(':')
    while (groups.length + behind.length < 8) groups.push('0')
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
