import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { Duplex } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import type { OperationResult } from '../inside/execProtocol.ts'
import { type EnteredProcess, type Entrance, enter } from './enter.ts'

/** Connects to a port inside the sandbox through a helper process that bridges the two networks. */
export async function connectPort(entrance: Entrance, port: number, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted()
  const early: Buffer[] = []
  let onOutput = (bytes: Buffer): void => void early.push(bytes)
  const entered = enter(entrance, { mode: 'connect', fields: [String(port)], onOutput: (bytes) => onOutput(bytes) })
  signal.addEventListener('abort', entered.kill, { once: true })
  const started = await entered.started
  signal.removeEventListener('abort', entered.kill)
  if (!started) {
    const result = await entered.result
    signal.throwIfAborted()
    throw createNotReachedError(port, result)
  }
  const { duplex, take } = createDuplex(started.connection, entered)
  onOutput = take
  for (const bytes of early) take(bytes)
  if (!signal.aborted) return duplex
  duplex.destroy()
  throw signal.reason
}

const prefixBytes = 4
const endOfInputChunk = Buffer.alloc(prefixBytes)

/**
 * The duplex ends when the port has sent all its output. Input that the port no longer reads is dropped, so that its
 * last output is still delivered.
 */
function createDuplex(socket: Socket, entered: EnteredProcess): { duplex: Duplex; take: (bytes: Buffer) => void } {
  const duplex = new Duplex({
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write(bytes: Buffer, _, done) {
      if (!socket.writable) return done()
      const prefix = Buffer.allocUnsafe(prefixBytes)
      prefix.writeUInt32BE(bytes.length)
      socket.cork()
      socket.write(prefix)
      socket.write(bytes, () => done())
      socket.uncork()
    },
    final(done) {
      if (socket.writable) socket.write(endOfInputChunk)
      done()
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  void entered.result.then((result) => {
    if (result.kind === 'ended') duplex.push(null)
    else duplex.destroy()
  })
  return {
    duplex,
    take(bytes) {
      if (!duplex.push(bytes)) socket.pause()
    },
  }
}

function createNotReachedError(port: number, result: OperationResult): AppError {
  const refused = result.kind === 'failed' && result.errno === constants.errno.ECONNREFUSED
  if (refused) return new AppError('port/no-server', `Nothing listens on port ${port} in the sandbox.`)
  let detail = 'The bridge ended.'
  if (result.kind === 'failed') detail = `${result.stage}: error ${result.errno}`
  if (result.kind === 'refused') detail = result.error.message
  return new AppError('port/failed', `Port ${port} of the sandbox cannot be reached.`, { detail })
}
