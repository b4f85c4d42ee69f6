import { createServer, type Server } from 'node:net'
import { claimSocket, leaveSocket, listenPrivately } from '#platform/privateSocket.ts'
import { AppError } from '#shared/appError.ts'

/**
 * The end at which the application of the same user asks, and which no other user can take: a Unix socket. It leads to
 * the one server of the service, so guards, limits and deadlines are those of its port. TLS is not spoken: nothing that
 * passes leaves the kernel.
 */
export type PrivateEnd = {
  /** Whether a request came in here. The absence of an address would not tell: a closed connection has none either. */
  tookIn(request: { socket: object }): boolean
  /**
   * Hands what comes in to this server.
   * @throws AppError `data/in-use`, `data/unusable`
   */
  open(server: Server): Promise<void>
  /** Takes no more connections, and resolves when those that it took have ended. */
  close(): Promise<void>
}

/** @param path absent: there is no such end. */
export function createPrivateEnd(path: string | undefined, scheme: 'http' | 'https'): PrivateEnd {
  const accepted = new WeakSet<object>()
  // Event of a server for a connection that is ready for requests.
  const readable = scheme === 'https' ? 'secureConnection' : 'connection'
  let listening: Server | undefined

  return {
    tookIn: ({ socket }) => accepted.has(socket),
    async open(server) {
      if (path === undefined) return
      await claimSocket(path, `Another service of Steward already listens at ${path}.`)
      const opened = createServer({ allowHalfOpen: true }, (socket) => {
        accepted.add(socket)
        server.emit(readable, socket)
      })
      try {
        await listenPrivately(opened, path)
        listening = opened
      } catch (cause) {
        throw createListenError(path, cause)
      }
    },
    async close() {
      if (path === undefined || !listening) return
      const server = listening
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      await leaveSocket(path)
    },
  }
}

function createListenError(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('data/unusable', `Cannot listen at ${path}: ${reason}.`, { cause })
}
