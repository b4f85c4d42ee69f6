import { finished } from 'node:stream'
import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'
import type { PortConnect } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import { createStreamDuplex } from './streamDuplex.ts'

/** Limit per sandbox. Each connection is a process on this computer. */
const maxConnections = 256
const connectTimeoutMs = 15_000

/** Connects a stream of the service to a port inside a sandbox. */
export function createPortHandler(
  sandboxes: Pick<Sandboxes, 'get'>,
): (params: PortConnect, stream: IpcServerStream) => void {
  const connections = new Map<SandboxId, number>()
  const count = (id: SandboxId, change: number): number => {
    const now = (connections.get(id) ?? 0) + change
    if (now === 0) connections.delete(id)
    else connections.set(id, now)
    return now
  }

  const join = async ({ sandboxId, port }: PortConnect, stream: IpcServerStream): Promise<void> => {
    const { duplex: outside, closed } = createStreamDuplex(stream)
    const signal = AbortSignal.any([closed, AbortSignal.timeout(connectTimeoutMs)])
    const inside = await sandboxes.get(sandboxId).connect(port, signal)
    if (inside.destroyed) throw createLostConnectionError(port)
    inside.on('error', () => {}) // handled by `close`
    outside.once('close', () => inside.destroy())
    stream.send({ type: 'opened' })
    outside.pipe(inside)
    inside.pipe(outside)
    inside.once('close', () => {
      if (!inside.readableEnded) outside.destroy(createLostConnectionError(port))
      // The last output of the port is still delivered.
      else finished(outside, { readable: false }, () => outside.destroy())
    })
    await new Promise((resolve) => inside.once('close', resolve))
  }

  return (params, stream) => {
    if (count(params.sandboxId, 1) > maxConnections) {
      count(params.sandboxId, -1)
      stream.end(new AppError('port/busy', `This sandbox already has ${maxConnections} connections.`))
      return
    }
    void join(params, stream)
      .catch((error: unknown) => stream.end(error instanceof AppError ? error : createTimeoutError(params.port)))
      .finally(() => count(params.sandboxId, -1))
  }
}

function createLostConnectionError(port: number): AppError {
  return new AppError('port/failed', `The connection to port ${port} in the sandbox was lost.`)
}

function createTimeoutError(port: number): AppError {
  return new AppError('port/no-server', `Port ${port} in the sandbox did not accept the connection in time.`)
}
