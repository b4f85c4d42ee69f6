import type { FastifyInstance } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import { hostAndPort, isLoopback, type ListenAddress } from '../../platform/listenAddress.ts'

/** @throws AppError `listen/insecure` when what is said would cross a network in the clear. */
export function checkListening(given: { listen: ListenAddress; tls: boolean; insecureBehindProxy: boolean }): {
  beyondLoopback: boolean
} {
  const beyondLoopback = !isLoopback(given.listen.host)
  if (beyondLoopback && !given.tls && !given.insecureBehindProxy) {
    throw new AppError(
      'listen/insecure',
      `Listening on ${given.listen.host} without TLS would send keys and terminals over the network in the clear.`,
    )
  }
  return { beyondLoopback }
}

/** @returns the port, chosen by the system when 0 was asked. @throws AppError `listen/failed` */
export async function listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  try {
    // `localhost` may mean two addresses; one is enough, and it is the one that is printed.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (failure) {
    throw cannotListen(hostAndPort({ host, port }), failure)
  }
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** Where this machine reaches it. */
export function localUrl({ host, port }: ListenAddress, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' || host === 'localhost' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${hostAndPort({ host: reachable, port })}`
}

function cannotListen(where: string, cause: unknown): AppError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program already listens there',
    EACCES: 'this user may not listen there',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'that name is not known',
  }
  const reason = reasons[String(code)] ?? (cause instanceof Error ? cause.message : String(cause))
  return new AppError('listen/failed', `Cannot listen on ${where}: ${reason}.`, { cause })
}
