import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

const guarded = new WeakSet<Socket>()

/**
 * Handles errors of a request's socket for the lifetime of the socket. If a request is aborted between the last byte of
 * its response and its end, Node.js briefly has no listener, and the error would crash the process. The request reports
 * its own error separately.
 */
export function ignoreLateErrors(request: ClientRequest): void {
  request.once('socket', (socket) => {
    if (guarded.has(socket)) return
    guarded.add(socket)
    socket.on('error', () => {})
  })
}
