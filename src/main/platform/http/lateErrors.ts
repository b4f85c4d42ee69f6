import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

const guarded = new WeakSet<Socket>()

/**
 * Listens for errors of the socket of a request as long as the socket lives. Node has no listener of its own there for a
 * moment when a request is aborted between the last byte of its answer and the end of it, and the error would end the
 * process. The request reports its failure itself.
 */
export function ignoreLateErrors(request: ClientRequest): void {
  request.once('socket', (socket) => {
    if (guarded.has(socket)) return
    guarded.add(socket)
    socket.on('error', () => {})
  })
}
