import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import { formatHostAndPort, type ListenAddress } from '#platform/net/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { answerMessage } from './dnsMessage.ts'
import type { ZoneLookup } from './zoneAnswer.ts'

export type DnsServer = {
  /** Port for both UDP and TCP. */
  port: number
  close(): Promise<void>
}

const idleMs = 10_000
const maxConnections = 64
/** Maximum number of datagrams without a response. Further ones are dropped, and their clients try again. */
const maxDatagrams = 256
/** UDP and TCP share one port, which may be free for only one of them. */
const triedPorts = 20

/** Starts a DNS server for zones over UDP and TCP. @throws AppError `listen/failed` */
export async function startDnsServer(address: ListenAddress, zoneOf: ZoneLookup): Promise<DnsServer> {
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

function startUdpServer(host: string, zoneOf: ZoneLookup): UdpSocket {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  let pending = 0
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('message', async (message, from) => {
    if (pending >= maxDatagrams) return
    pending += 1
    const answer = await answerMessage(message, 'udp', zoneOf).catch(() => undefined)
    pending -= 1
    // ignores errors: the client may have disconnected
    if (answer && !isClosed) socket.send(answer, from.port, from.address, () => {})
  })
  socket.on('error', () => {}) // ignores errors of single datagrams; errors of binding also reach `once`
  return socket
}

type Tcp = { server: Server; connections: Set<Socket> }

function startTcpServer(zoneOf: ZoneLookup): Tcp {
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(idleMs, () => socket.destroy())
    answerStream(socket, zoneOf).catch(() => socket.destroy())
  })
  server.maxConnections = maxConnections
  return { server, connections }
}

/** Answers the messages of a connection one after the other, and reads on once the client has read the responses. */
async function answerStream(socket: Socket, zoneOf: ZoneLookup): Promise<void> {
  let pending = Buffer.alloc(0)
  // without destroying the socket at the end, which would drop responses that are not sent yet
  for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
    pending = Buffer.concat([pending, bytes])
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0)
      const answer = await answerMessage(pending.subarray(2, end), 'tcp', zoneOf)
      pending = pending.subarray(end)
      if (!answer || socket.destroyed) return void socket.destroy()
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer.length)
      if (!socket.write(Buffer.concat([length, answer]))) await once(socket, 'drain')
    }
  }
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
