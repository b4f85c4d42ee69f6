import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import { formatHostAndPort, type ListenAddress } from '#platform/net/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { answerMessage } from './dnsMessage.ts'
import type { Zone } from './zoneAnswer.ts'

export type DnsServer = {
  /** Port for both UDP and TCP. */
  port: number
  close(): Promise<void>
}

const idleMs = 10_000
const maxConnections = 64
/** UDP and TCP share one port, which may be free for only one of them. */
const triedPorts = 20

/** Starts a DNS server for zones over UDP and TCP. @throws AppError `listen/failed` */
export async function startDnsServer(
  address: ListenAddress,
  zoneOf: (name: string) => Zone | undefined,
): Promise<DnsServer> {
  for (let attempts = address.port === 0 ? triedPorts : 1; ; attempts -= 1) {
    const tcp = startTcpServer(zoneOf)
    const udp = startUdpServer(address.host, zoneOf)
    try {
      tcp.server.listen(address.port, address.host)
      await once(tcp.server, 'listening')
      const port = getPort(tcp.server)
      udp.bind({ port, address: address.host, exclusive: true })
      await once(udp, 'listening')
      return { port, close: () => closeServer(tcp, udp) }
    } catch (cause) {
      await closeServer(tcp, udp)
      if (attempts === 1) throw createListenError(address, cause)
    }
  }
}

function createListenError(address: ListenAddress, cause: unknown): AppError {
  return new AppError('listen/failed', `The DNS server cannot listen on ${formatHostAndPort(address)}.`, { cause })
}

function getPort(server: Server): number {
  const address = server.address()
  if (typeof address === 'object' && address) return address.port
  throw new Error('The DNS server is not listening.')
}

function startUdpServer(host: string, zoneOf: (name: string) => Zone | undefined): UdpSocket {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  socket.on('message', (message, from) => {
    const answer = answerMessage(message, 'udp', zoneOf)
    // ignores errors: the client may have disconnected
    if (answer) socket.send(answer, from.port, from.address, () => {})
  })
  socket.on('error', () => {}) // ignores errors of single datagrams; errors of binding also reach `once`
  return socket
}

type Tcp = { server: Server; connections: Set<Socket> }

function startTcpServer(zoneOf: (name: string) => Zone | undefined): Tcp {
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(idleMs, () => socket.destroy())
    let pending = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      pending = Buffer.concat([pending, bytes])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const answer = answerMessage(pending.subarray(2, end), 'tcp', zoneOf)
        pending = pending.subarray(end)
        if (!answer) return void socket.destroy()
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        // Pauses reading from a client until it has read its pending responses.
        if (!socket.write(Buffer.concat([length, answer]))) {
          socket.pause()
          socket.once('drain', () => socket.resume())
        }
      }
    })
  })
  server.maxConnections = maxConnections
  return { server, connections }
}

async function closeServer({ server, connections }: Tcp, udp: UdpSocket): Promise<void> {
  for (const socket of connections) socket.destroy()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  await new Promise<void>((resolve) => {
    try {
      udp.close(resolve)
    } catch {
      resolve() // the socket was never bound
    }
  })
}
