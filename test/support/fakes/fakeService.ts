import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** Fake service that records the agent's requests verbatim. */
export type FakeService = {
  url: string
  port: number
  requests: IncomingMessage[]
  /** Open WebSockets by path. */
  sockets: Map<string, WebSocket>
  close(): Promise<void>
}

type Options = {
  port?: number
  /** Path of a Unix socket to listen on instead of a port. */
  socketPath?: string
  answer?: (request: IncomingMessage, response: ServerResponse) => void
  onSocket?: (socket: WebSocket, request: IncomingMessage) => void
}

/** Starts the fake service. The event stream begins with `ready`, as the contract requires. */
export async function startFakeService({ port = 0, socketPath, answer, onSocket }: Options = {}): Promise<FakeService> {
  const requests: IncomingMessage[] = []
  const sockets = new Map<string, WebSocket>()
  const http = createServer((request, response) => {
    requests.push(request)
    if (answer) answer(request, response)
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  })
  const upgrades = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => protocols.values().next().value ?? false,
  })
  http.on('upgrade', (request, socket, head) => {
    requests.push(request)
    socket.on('error', () => {}) // the client may disconnect before the response
    if (request.url?.startsWith('/v1/refused')) {
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}')
      return
    }
    upgrades.handleUpgrade(request, socket, head, (opened) => {
      sockets.set(request.url ?? '', opened)
      if (request.url === '/v1/events') opened.send('{"type":"ready"}')
      else onSocket?.(opened, request)
    })
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(socketPath === undefined ? { host: '127.0.0.1', port } : { path: socketPath }, resolve)
  })
  const address = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of upgrades.clients) socket.terminate()
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
