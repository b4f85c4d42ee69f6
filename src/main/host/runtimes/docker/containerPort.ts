import { Duplex } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import type { OperationResult } from '../inside/execProtocol.ts'
import type { AgentChannel } from './agentChannel.ts'
import type { AgentConnection } from './agentConnection.ts'

/** Linux value of ECONNREFUSED, on any host platform. */
const refused = 111

/**
 * Connects to a port inside through the agent, because an engine can publish ports only when it creates a container.
 */
export async function connectContainerPort(
  agent: Pick<AgentConnection, 'open'>,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.throwIfAborted()
  let onOutput: (bytes: Buffer) => void = () => {}
  const channel = agent.open({ mode: `connect ${port}`, fields: [], onOutput: (bytes) => onOutput(bytes) })
  channel.pause()
  const callOff = (): void => channel.drop()
  signal.addEventListener('abort', callOff, { once: true })
  const started = await channel.started
  signal.removeEventListener('abort', callOff)
  if (started === undefined) {
    channel.resume()
    const result = await channel.result
    signal.throwIfAborted()
    throw createNotReachedError(port, result)
  }
  const connection = createDuplex(channel)
  onOutput = (bytes) => {
    if (!connection.push(bytes)) channel.pause()
  }
  if (!signal.aborted) return connection
  connection.destroy()
  throw signal.reason
}

/**
 * The duplex ends when the port has sent all its output. Input that the port no longer reads is dropped, so that its
 * last output is still delivered.
 */
function createDuplex(channel: AgentChannel): Duplex {
  const connection = new Duplex({
    allowHalfOpen: false,
    read: () => channel.resume(),
    write: (bytes: Buffer, _, done) => channel.send(bytes, () => done()),
    final(done) {
      channel.finish()
      done()
    },
    destroy(error, done) {
      channel.drop()
      channel.resume()
      done(error)
    },
  })
  void channel.result.then((result) => {
    if (result.kind === 'ended' && result.status === 0) connection.push(null)
    else connection.destroy()
  })
  return connection
}

function createNotReachedError(port: number, result: OperationResult): AppError {
  if (result.kind === 'failed' && result.errno === refused) {
    return new AppError('port/no-server', `Nothing listens on port ${port} in the sandbox.`)
  }
  const detail = result.kind === 'failed' ? `${result.stage}: error ${result.errno}` : 'The bridge ended.'
  return new AppError('port/failed', `Port ${port} of the sandbox cannot be reached.`, { detail })
}
