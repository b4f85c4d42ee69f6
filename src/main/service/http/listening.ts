import type { FastifyInstance } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import { hostAndPort, isLoopback, type ListenAddress } from '../../platform/listenAddress.ts'
import { type Listening, listenAt } from '../../platform/loopbackListening.ts'
import type { PrivateEnd } from './privateEnd.ts'

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

/**
 * Requests at the other loopback address, and at the private end, end with the rest.
 * @returns the port, chosen by the system when 0 was asked. @throws AppError `listen/failed`, what the private end throws
 */
export async function listen(
  app: FastifyInstance,
  { address, end }: { address: ListenAddress; end: PrivateEnd },
): Promise<number> {
  let held: Listening | undefined
  app.addHook('onClose', async () => void (await Promise.all([held?.close(), end.close()])))
  const open = async (at: ListenAddress): Promise<void> => void (await app.listen(at))
  held = await listenAt({ server: app.server, address, open })
  await end.open(app.server)
  return held.port
}

/** Where this machine reaches it. */
export function localUrl({ host, port }: ListenAddress, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' || host === 'localhost' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${hostAndPort({ host: reachable, port })}`
}
