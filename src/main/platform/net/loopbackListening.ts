import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { AppError } from '#shared/appError.ts'
import { formatHostAndPort, type ListenAddress } from './listenAddress.ts'

export type Listening = {
  port: number
  /** Stops accepting connections on the other address. Resolves when its open connections have ended. */
  close(): Promise<void>
}

type Options = {
  server: Server
  address: ListenAddress
  /** Starts listening. Rejects with the error of the Node.js server. */
  open: (address: ListenAddress) => Promise<void>
}

/** A port that the system chose for one address may be in use on the other. Another port is chosen then. */
const maxTries = 32

/**
 * Starts a server. If its address is one of the two loopback addresses, also listens on the other, at the same port.
 * Browsers resolve `localhost` and its subdomains to both, ::1 first; otherwise another user of this computer could
 * listen there and receive the requests. Skips the other address if the computer does not have it.
 * @see https://www.rfc-editor.org/rfc/rfc6761#section-6.3
 * @throws AppError `listen/failed`
 */
export async function listenAt({ server, address, open }: Options): Promise<Listening> {
  const host = address.host === 'localhost' ? '127.0.0.1' : address.host
  for (let tries = 1; ; tries++) {
    const otherServer = await listenOnOtherLoopback(server, { host, port: address.port })
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

/** Whether the address is free, and its port on the other loopback address. */
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

/** Resolves when the server listens. */
export async function startListening(server: Server, address: ListenAddress): Promise<void> {
  server.listen({ ...address, exclusive: true })
  await once(server, 'listening') // rejects on `error`
}

const otherAddresses: Readonly<Record<string, string>> = { '127.0.0.1': '::1', '::1': '127.0.0.1', '0.0.0.0': '::1' }
/** Error codes of systems that do not have the address. */
const absent = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT', 'EINVAL']

async function listenOnOtherLoopback(server: Server, { host, port }: ListenAddress): Promise<Listening | undefined> {
  const otherHost = otherAddresses[host]
  if (otherHost === undefined) return undefined
  const take = (socket: Socket): void => {
    if (server.listening) server.emit('connection', socket)
    else socket.destroy()
  }
  // same options as an HTTP server of Node.js
  const otherServer = createServer({ allowHalfOpen: true, noDelay: true }, take)
  try {
    await startListening(otherServer, { host: otherHost, port })
  } catch (error) {
    if (absent.includes(String(readCode(error)))) return undefined
    const faultHere = await findListenError({ host, port })
    if (faultHere !== undefined) throw createListenError({ host, port }, faultHere)
    throw createListenError({ host: otherHost, port }, error, bothNeeded)
  }
  return {
    port: getPort(otherServer),
    close: () => new Promise<void>((resolve) => void otherServer.close(() => resolve())),
  }
}

/** Returns the error of listening on the address, or undefined on success. */
async function findListenError(address: ListenAddress): Promise<unknown> {
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
  'Browsers resolve names that end in localhost to both 127.0.0.1 and [::1], so Steward needs both. Choose another port, or stop the program that uses it.'

function getPort(server: Server): number {
  const bound = server.address()
  return typeof bound === 'object' && bound !== null ? bound.port : 0
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function createListenError(address: ListenAddress, cause: unknown, detail?: string): AppError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program is already listening there',
    EACCES: 'this user is not allowed to listen there',
    EADDRNOTAVAIL: 'this computer does not have that address',
    ENOTFOUND: 'the name cannot be resolved',
  }
  const reason = reasons[String(readCode(cause))] ?? (cause instanceof Error ? cause.message : String(cause))
  const message = `Cannot listen on ${formatHostAndPort(address)}: ${reason}.`
  return new AppError('listen/failed', message, { cause, ...(detail !== undefined && { detail }) })
}
