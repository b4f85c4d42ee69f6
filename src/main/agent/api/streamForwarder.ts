import { type ClientRequest, type IncomingMessage, request as plainRequest, STATUS_CODES } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import { streamClose } from '../../../shared/contract/terminalStream.ts'
import { connector, placeOfTarget, type ServiceTarget, tlsOptions } from '../connections/serviceTarget.ts'
import { answerHeaders, handshakeHeaders, requestHeaders } from './forwardedHeaders.ts'

export type StreamForwarder = {
  forward(request: IncomingMessage, socket: Duplex, head: Buffer, owner: boolean): void
  close(): void
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer; owner: boolean; target: ServiceTarget }

const answerMs = 10_000

/**
 * Joins a WebSocket of the caller with one of the service. After the handshake bytes pass as they are, both ways, each
 * side as fast as the other takes them: frames, pings and close codes are those of the two ends.
 */
export function streamForwarder(target: () => ServiceTarget | undefined, refusals: WebSocketServer): StreamForwarder {
  const joined = new Set<Duplex>()

  /** A page cannot read the status of a refused handshake: it is told with a close code of the stream's own. */
  const closeAsUnavailable = ({ request, socket, head }: Omit<Upgrade, 'target'>): void =>
    refusals.handleUpgrade(request, socket, head, (it) => it.close(streamClose.unavailable, 'The service is away.'))

  const join = (upgrade: Upgrade): void => {
    const { request, socket, head, owner } = upgrade
    const asked = handshake(upgrade)
    const giveUp = () => asked.destroy()
    const ownFailure = () => {} // `close` follows
    socket.once('close', giveUp)
    socket.on('error', ownFailure)
    asked.on('upgrade', (answer, upstream, firstBytes) => {
      socket.off('close', giveUp)
      socket.write(headOf(101, handshakeHeaders(answer.headers, request)))
      socket.write(firstBytes)
      upstream.write(head)
      connect(socket, upstream)
      joined.add(socket).add(upstream)
    })
    asked.on('response', (answer) => {
      socket.off('close', giveUp)
      socket.write(headOf(answer.statusCode ?? 502, { ...answerHeaders(answer.headers), connection: 'close' }))
      answer.pipe(socket)
    })
    asked.on('error', () => {
      socket.off('close', giveUp)
      if (!socket.destroyed) closeAsUnavailable({ request, socket, head, owner })
    })
    asked.end()
  }

  const connect = (socket: Duplex, upstream: Duplex): void => {
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      if ('setNoDelay' in one && typeof one.setNoDelay === 'function') one.setNoDelay(true)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        joined.delete(one)
        other.destroy()
      })
    }
  }

  return {
    forward(request, socket, head, owner) {
      const to = target()
      if (to) join({ request, socket, head, owner, target: to })
      else closeAsUnavailable({ request, socket, head, owner })
    },
    close() {
      for (const socket of joined) socket.destroy()
    },
  }
}

function handshake({ request, owner, target }: Upgrade): ClientRequest {
  const { secure, hostname, port, host } = placeOfTarget(target)
  const { 'content-length': _unused, ...headers } = requestHeaders(request, owner ? target.key : undefined)
  const send = secure ? tlsRequest : plainRequest
  const createConnection = connector(target)
  return send({
    hostname,
    port,
    path: request.url ?? '/',
    headers: { ...headers, host, connection: 'Upgrade', upgrade: 'websocket' },
    // Without an agent it is a connection of its own.
    ...(createConnection ? { createConnection } : { agent: false }),
    timeout: answerMs,
    ...tlsOptions(target),
  }).on('timeout', function (this: ClientRequest) {
    this.destroy(new Error('The service did not answer in time.'))
  })
}

function headOf(status: number, headers: Record<string, string | string[]>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
}
