import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { AppError } from '#shared/appError.ts'
import { formatHostAndPort, type ListenAddress } from './listenAddress.ts'

export type Listening = {
  port: number
  /** Takes no more connections at the other address, and resolves when those that it took have ended. */
  close(): Promise<void>
}

type Options = {
  server: Server
  address: ListenAddress
  /** Makes the server listen; rejects as Node's servers fail. */
  open: (address: ListenAddress) => Promise<void>
}

/** A port that the system chose for one address may be taken at the other: then it chooses again. */
const maxTries = 32

/**
 * Makes a server listen. Where that reaches one loopback address, the other is held as well, at the same port: browsers
 * take `localhost` and all names below it for both, ::1 first. Were one free, another user of the machine could listen
 * there and be asked in our place. A machine without the other address goes without.
 * @see https://www.rfc-editor.org/rfc/rfc6761#section-6.3
 * @throws AppError `listen/failed`
 */
export async function listenAt({ server, address, open }: Options): Promise<Listening> {
  const host = address.host === 'localhost' ? '127.0.0.1' : address.host
  for (let tries = 1; ; tries++) {
    const otherServer = await holdOther(server, { host, port: address.port })
    try {
      await open({ host, port: otherServer?.port ?? address.port })
      return { port: getPort(server), close: async () => otherServer?.close() }
    } catch (error) {
      await otherServer?.close()
      const mayTryAgain = otherServer && address.port === 0 && readCode(error) === 'EADDRINUSE' && tries < maxTries
      if (!mayTryAgain) throw createListenError(address, error)
    }
  }
}

/** Whether nothing else listens there, nor at the other loopback address. */
export async function canListen(address: ListenAddress): Promise<boolean> {
  const server = createServer()
  try {
    const listening = await listenAt({ server, address, open: (target) => startListening(server, target) })
    server.close()
    await listening.close()
    return true
  } catch {
    return false
  }
}

/** Node's own `listen`, as a promise. */
export async function startListening(server: Server, address: ListenAddress): Promise<void> {
  server.listen({ ...address, exclusive: true })
  await once(server, 'listening') // rejects with an `error`
}

const otherAddresses: Readonly<Record<string, string>> = { '127.0.0.1': '::1', '::1': '127.0.0.1', '0.0.0.0': '::1' }
/** Error codes of systems without the address. */
const absent = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT', 'EINVAL']

async function holdOther(server: Server, { host, port }: ListenAddress): Promise<Listening | undefined> {
  const otherHost = otherAddresses[host]
  if (otherHost === undefined) return undefined
  const take = (socket: Socket): void => {
    if (server.listening) server.emit('connection', socket)
    else socket.destroy()
  }
  const otherServer = createServer({ allowHalfOpen: true, noDelay: true }, take) // as Node's servers for HTTP
  try {
    await startListening(otherServer, { host: otherHost, port })
  } catch (error) {
    if (absent.includes(String(readCode(error)))) return undefined
    const faultHere = await findFault({ host, port })
    if (faultHere !== undefined) throw createListenError({ host, port }, faultHere)
    throw createListenError({ host: otherHost, port }, error, bothNeeded)
  }
  return {
    port: getPort(otherServer),
    close: () => new Promise<void>((resolve) => void otherServer.close(() => resolve())),
  }
}

/** Returns the error of listening on the address. Undefined if that succeeds. */
async function findFault(address: ListenAddress): Promise<unknown> {
  const server = createServer()
  try {
    await startListening(server, address)
    server.close()
    return undefined
  } catch (error) {
    return error
  }
}

const bothNeeded =
  'Browsers look for addresses that end in localhost at both 127.0.0.1 and [::1], so Steward needs both. Choose another port, or end what listens there.'

function getPort(server: Server): number {
  const bound = server.address()
  return typeof bound === 'object' && bound !== null ? bound.port : 0
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function createListenError(address: ListenAddress, cause: unknown, detail?: string): AppError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program already listens there',
    EACCES: 'this user may not listen there',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'that name is not known',
  }
  const reason = reasons[String(readCode(cause))] ?? (cause instanceof Error ? cause.message : String(cause))
  const message = `Cannot listen on ${formatHostAndPort(address)}: ${reason}.`
  return new AppError('listen/failed', message, { cause, ...(detail !== undefined && { detail }) })
}
