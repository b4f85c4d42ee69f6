import { createServer, type Server } from 'node:net'
import { claimSocket, listenPrivately, releaseSocket } from '#platform/net/privateSocket.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Private endpoint for the application of the same OS user: a Unix socket that other users cannot access. Its
 * connections are handled by the HTTP server of the service, so the same guards, limits and timeouts apply. TLS is not
 * used, because the data does not leave the kernel.
 */
export type PrivateEndpoint = {
  /**
   * Whether a request arrived at this endpoint. A missing address is not sufficient, because closed connections have no
   * address either.
   */
  tookIn(request: { socket: object }): boolean
  /** Passes incoming connections to this server. @throws AppError `data/in-use`, `data/unusable` */
  open(server: Server): Promise<void>
  /** Stops accepting connections. Resolves after the accepted ones have ended. */
  close(): Promise<void>
}

/** @param path path of the socket; undefined disables the endpoint */
export function createPrivateEndpoint(path: string | undefined, scheme: 'http' | 'https'): PrivateEndpoint {
  const accepted = new WeakSet<object>()
  // Event of the server for a connection that is ready for requests.
  const readable = scheme === 'https' ? 'secureConnection' : 'connection'
  let listening: Server | undefined

  return {
    tookIn: ({ socket }) => accepted.has(socket),
    async open(server) {
      if (path === undefined) return
      await claimSocket(path, `Another Steward service is already listening at ${path}.`)
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
      await releaseSocket(path)
    },
  }
}

function createListenError(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('data/unusable', `Cannot listen at ${path}: ${reason}.`, { cause })
}
