import { randomBytes } from 'node:crypto'
import { connectIpc, type IpcClient } from '#platform/ipc/ipcClient.ts'
import type { AppError } from '#shared/appError.ts'
import {
  type HostEvent,
  type HostMethod,
  type HostParams,
  type HostResult,
  hostMethods,
} from '#shared/contract/hostIpc.ts'
import { ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import { SandboxId, TerminalId } from '#shared/ids.ts'
import { createSandboxSpec } from '../fixtures/sandboxSpecs.ts'

export const newSandboxId = (): SandboxId => SandboxId.parse(randomBytes(16).toString('hex'))
export const newTerminalId = (): TerminalId => TerminalId.parse(`pty_${randomBytes(12).toString('hex')}`)

export type HostClient = {
  ipc: IpcClient
  events: HostEvent[]
  call<M extends HostMethod>(
    method: M,
    params: HostParams<M>,
    body?: Uint8Array,
  ): Promise<HostResult<M> & { body: Buffer }>
  createMachine(runtime?: string): Promise<SandboxId>
  createTerminal(sandboxId: SandboxId, command: string, size?: { cols: number; rows: number }): Promise<TestTerminal>
  terminal(sandboxId: SandboxId, terminalId: TerminalId): TestTerminal
}

export type TestTerminal = {
  sandboxId: SandboxId
  id: TerminalId
  type(input: string): Promise<unknown>
  read(options?: { full?: boolean; format?: 'text' | 'ansi' }): Promise<HostResult<'terminal.read'> & { text: string }>
  attach(options?: { scrollback?: number; acknowledge?: boolean }): TestViewer
}

export type TestViewer = {
  messages: ServerStreamMessage[]
  snapshot: Buffer | undefined
  chunks: Buffer[]
  received: number
  end: { failure: AppError | undefined } | undefined
  send(message: unknown): void
  close(): void
}

/** Connects as the service side of the IPC protocol, for tests. */
export async function connectHost(path: string): Promise<HostClient> {
  const events: HostEvent[] = []
  const ipc = await connectIpc({ path, onEvent: (event) => events.push(event as HostEvent) })

  const call = async <M extends HostMethod>(method: M, params: HostParams<M>, sent?: Uint8Array) => {
    const { result, body } = await ipc.call(method, params, sent ? { body: sent } : {})
    return { ...(hostMethods[method].result.parse(result) as HostResult<M>), body }
  }

  const terminal = (sandboxId: SandboxId, id: TerminalId): TestTerminal => ({
    sandboxId,
    id,
    type: (input) => call('terminal.write', { sandboxId, terminalId: id }, Buffer.from(input)),
    async read({ full = false, format = 'text' } = {}) {
      const { body, ...rest } = await call('terminal.read', { sandboxId, terminalId: id, full, format })
      return { ...rest, text: body.toString('utf8') }
    },
    attach: ({ scrollback = 0, acknowledge = true } = {}) =>
      attach(ipc, { sandboxId, terminalId: id, scrollback }, acknowledge),
  })

  return {
    ipc,
    events,
    call,
    terminal,
    async createMachine(runtime = 'local') {
      const id = newSandboxId()
      await call('machine.create', createSandboxSpec({ id, runtime }))
      return id
    },
    async createTerminal(sandboxId, command, { cols, rows } = { cols: 80, rows: 24 }) {
      const { id } = await call('terminal.create', { sandboxId, terminalId: newTerminalId(), command, cols, rows })
      return terminal(sandboxId, id)
    },
  }
}

function attach(ipc: IpcClient, params: unknown, acknowledge: boolean): TestViewer {
  let unacknowledged = 0
  const viewer: TestViewer = {
    messages: [],
    snapshot: undefined,
    chunks: [],
    received: 0,
    end: undefined,
    send: (message) => stream.send(message),
    close: () => stream.close(),
  }
  const stream = ipc.open(params, {
    onMessage: (message) => viewer.messages.push(ServerStreamMessage.parse(message)),
    onBytes(bytes) {
      if (!viewer.snapshot) {
        viewer.snapshot = bytes
        return
      }
      viewer.chunks.push(bytes)
      viewer.received += bytes.length
      unacknowledged += bytes.length
      if (acknowledge && unacknowledged >= streamLimits.ackEveryBytes) {
        stream.send({ type: 'ack', bytes: unacknowledged })
        unacknowledged = 0
      }
    },
    onEnd(error) {
      viewer.end = { failure: error }
    },
  })
  return viewer
}
