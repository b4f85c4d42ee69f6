import { WebSocket } from 'ws'
import { until } from '../assertions/eventually.ts'

/** WebSocket client that records all received messages. */
export type SocketClient = {
  messages: Record<string, unknown>[]
  /** Concatenated binary frames, decoded as text. */
  readonly text: string
  frames: Buffer[]
  closed: { code: number; reason: string } | undefined
  protocol: string
  send(message: unknown): void
  close(): void
}

type Opening = { headers?: Record<string, string>; protocols?: string[] }

/** Resolves when the socket is open. Rejects with the status of a refused upgrade, such as "403 …". */
export async function openSocket(url: string, { headers = {}, protocols = [] }: Opening = {}): Promise<SocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { headers, maxPayload: 64 * 1024 * 1024 })
  const client: SocketClient = {
    messages: [],
    frames: [],
    get text() {
      return Buffer.concat(client.frames).toString('utf8')
    },
    closed: undefined,
    get protocol() {
      return socket.protocol
    },
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    close: () => socket.terminate(),
  }
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) client.frames.push(data)
    else client.messages.push(JSON.parse(data.toString('utf8')))
  })
  socket.on('close', (code, reason) => {
    client.closed = { code, reason: reason.toString('utf8') }
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(client))
    socket.once('error', reject)
    socket.once('unexpected-response', (_, answer) => {
      let body = ''
      answer.on('data', (bytes: Buffer) => {
        body += bytes.toString('utf8')
      })
      answer.on('end', () => reject(new Error(`${answer.statusCode} ${body}`)))
    })
  })
}

/** Waits for the first message that matches, including earlier ones. */
export function findMessage(client: SocketClient, fields: Record<string, unknown>): Promise<Record<string, unknown>> {
  return until(`a message with ${JSON.stringify(fields)} among ${client.messages.length}`, () =>
    client.messages.find((message) => Object.entries(fields).every(([name, value]) => message[name] === value)),
  )
}
