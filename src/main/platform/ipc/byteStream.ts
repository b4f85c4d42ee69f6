import { Duplex } from 'node:stream'
import { z } from 'zod'

/**
 * JSON messages of a stream that carries the bytes of a connection. `ack` counts consumed bytes: each side has at most
 * `windowBytes` in flight without an acknowledgement.
 */
export const ByteStreamMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened') }),
  z.object({ type: z.literal('ack'), bytes: z.int().min(0) }),
  z.object({ type: z.literal('finished') }),
])
export type ByteStreamMessage = z.infer<typeof ByteStreamMessage>

/** One end of an IPC stream, on the server or the client. */
export type ByteChannel = {
  send(message: ByteStreamMessage): void
  sendBytes(bytes: Uint8Array): void
  /** Whether the underlying connection is congested. `onTurn` is called when it has capacity. */
  isCongested(): boolean
  end(error?: Error): void
}

export type ByteStream = {
  duplex: Duplex
  onMessage(message: unknown): void
  onBytes(bytes: Buffer): void
  /**
   * Called when the other side ends the IPC stream. The connection was cut off unless the other side had announced its
   * end.
   */
  onEnd(error: Error | undefined): void
  /** Sends some of the buffered data. @returns whether more remains */
  onTurn(): boolean
}

const windowBytes = 256 * 1024
const pieceBytes = 64 * 1024

type PendingWrite = { bytes: Uint8Array; done: (error?: Error | null) => void }

/** Creates a connection over an IPC stream, with backpressure in both directions. It does not delay other streams. */
export function createByteStream(channel: ByteChannel, onOpened: () => void = () => {}): ByteStream {
  let pendingWrite: PendingWrite | undefined
  let onTheWay = 0
  let unused = 0
  let heard = true
  let isClosed = false

  const acknowledge = (): void => {
    if (unused === 0 || isClosed) return
    channel.send({ type: 'ack', bytes: unused })
    unused = 0
  }
  const sendPiece = (): boolean => {
    if (!pendingWrite || onTheWay >= windowBytes) return false
    const piece = pendingWrite.bytes.subarray(0, pieceBytes)
    channel.sendBytes(piece)
    onTheWay += piece.length
    if (piece.length < pendingWrite.bytes.length) {
      pendingWrite.bytes = pendingWrite.bytes.subarray(piece.length)
      return true
    }
    const { done } = pendingWrite
    pendingWrite = undefined
    done()
    return pendingWrite !== undefined
  }
  const sendAll = (): void => {
    while (pendingWrite && onTheWay < windowBytes && !channel.isCongested()) sendPiece()
  }
  const finishReading = (): void => {
    if (!heard) return
    heard = false
    duplex.push(null)
  }

  const duplex = new Duplex({
    read: acknowledge,
    write(bytes: Buffer, _, done) {
      if (isClosed) return done() // received data can still be read
      pendingWrite = { bytes, done }
      sendAll()
    },
    final(done) {
      if (!isClosed) channel.send({ type: 'finished' })
      done()
    },
    destroy(error, done) {
      isClosed = true
      pendingWrite = undefined
      channel.end(error ?? undefined)
      done(error)
    },
  })

  return {
    duplex,
    onMessage(message) {
      const parsed = ByteStreamMessage.safeParse(message)
      if (!parsed.success) duplex.destroy(new Error('Malformed IPC message.'))
      else if (parsed.data.type === 'opened') onOpened()
      else if (parsed.data.type === 'finished') finishReading()
      else {
        onTheWay -= parsed.data.bytes
        sendAll()
      }
    },
    onBytes(bytes) {
      if (!heard || isClosed) return
      unused += bytes.length
      if (duplex.push(bytes)) acknowledge()
    },
    onEnd(error) {
      isClosed = true
      if (error || heard) {
        duplex.destroy(error ?? new Error('The connection closed unexpectedly.'))
        return
      }
      const waiting = pendingWrite
      pendingWrite = undefined
      waiting?.done()
    },
    onTurn: sendPiece,
  }
}
