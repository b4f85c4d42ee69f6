import { WebSocket } from 'ws'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'
import { type ClientStreamMessage, ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'

/** Third-party client of the REST API and the terminal stream, typed by the contract. */
export type StewardClient = {
  call<R extends Route>(route: R, input: Input<R>): Promise<Output<R>>
  attach(sandbox: SandboxId, terminal: TerminalId): Promise<Attached>
}

export type Attached = {
  /** Raw output since the snapshot. Assign a function to listen. */
  onOutput: (bytes: Buffer) => void
  onMessage: (message: ServerStreamMessage) => void
  send(message: ClientStreamMessage): void
  close(): void
}

export function createStewardClient(url: string, key: string): StewardClient {
  const headers = { authorization: `Bearer ${key}` }
  return {
    async call<R extends Route>(route: R, input: Input<R>): Promise<Output<R>> {
      const { path, body } = buildRequest(route, input)
      const reply = await fetch(`${url}${path}`, {
        method: route.method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(120_000),
      })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${route.method} ${path}: ${reply.status} ${text}`)
      return route.response.parse(JSON.parse(text)) as Output<R> // validated by parse()
    },
    attach: (sandbox, terminal) => attach(`${url}/v1/sandboxes/${sandbox}/pty/${terminal}/stream`, headers),
  }
}

const ackEveryBytes = 128 * 1024

function attach(url: string, headers: Record<string, string>): Promise<Attached> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, maxPayload: 64 * 1024 * 1024 })
  const attached: Attached = {
    onOutput: () => undefined,
    onMessage: () => undefined,
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
  }
  let drawn = false
  let unacknowledged = 0
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return attached.onMessage(ServerStreamMessage.parse(JSON.parse(data.toString())))
      if (!drawn) {
        drawn = true
        return resolve(attached)
      }
      attached.onOutput(data)
      unacknowledged += data.length
      if (unacknowledged < ackEveryBytes) return
      attached.send({ type: 'ack', bytes: unacknowledged })
      unacknowledged = 0
    })
  })
}
