import { constants } from 'node:os'
import { Duplex } from 'node:stream'
import { AppError } from '../../../../shared/appError.ts'
import { type Ending, type Entered, type Entrance, enter } from './enter.ts'

/**
 * A connection to a port inside, through a process of its own between the two networks. That process is in none of
 * the sandbox's cgroups and not among its processes: it ends with the connection or with this process.
 */
export async function connectPort(entrance: Entrance, port: number, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted()
  const entered = enter({ ...entrance, cgroupFiles: [] }, { mode: 'connect', fields: [String(port)] })
  signal.addEventListener('abort', entered.kill, { once: true })
  const pid = await entered.started
  signal.removeEventListener('abort', entered.kill)
  if (pid === undefined) {
    const ending = await entered.ending
    signal.throwIfAborted()
    throw notReached(port, ending)
  }
  const connection = joined(entered)
  if (!signal.aborted) return connection
  connection.destroy()
  throw signal.reason
}

/** Ends with what the port sends: what it no longer takes is dropped, so that its last answer is still read. */
function joined({ stdout, input, kill }: Entered): Duplex {
  const connection = new Duplex({
    allowHalfOpen: false,
    read: () => void stdout.resume(),
    write(bytes: Buffer, _, done) {
      if (input.writable) input.write(bytes, () => done())
      else done()
    },
    final(done) {
      input.end()
      done()
    },
    destroy(failure, done) {
      kill()
      stdout.destroy()
      input.destroy()
      done(failure)
    },
  })
  stdout.on('data', (bytes: Buffer) => {
    if (!connection.push(bytes)) stdout.pause()
  })
  stdout.once('end', () => connection.push(null))
  stdout.once('close', () => {
    if (!stdout.readableEnded) connection.destroy()
  })
  return connection
}

function notReached(port: number, ending: Ending): AppError {
  const refused = ending.kind === 'failed' && ending.errno === constants.errno.ECONNREFUSED
  if (refused) return new AppError('port/silent', `Nothing listens on port ${port} in the sandbox.`)
  const detail = ending.kind === 'failed' ? `${ending.stage}: error ${ending.errno}` : 'The bridge ended.'
  return new AppError('port/failed', `Port ${port} of the sandbox cannot be reached.`, { detail })
}
