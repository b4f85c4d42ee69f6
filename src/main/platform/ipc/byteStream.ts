import { Duplex } from 'node:stream'
import { z } from 'zod'

/**
 * What travels as JSON beside the bytes of a stream that carries a connection. `ack` counts bytes that were used: each
 * side has at most `windowBytes` on the way that the other has not acknowledged.
 */
export const ByteStreamMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened') }),
  z.object({ type: z.literal('ack'), bytes: z.int().min(0) }),
  z.object({ type: z.literal('finished') }),
])
export type ByteStreamMessage = z.infer<typeof ByteStreamMessage>

/** One end of an IPC stream, as both the server and the client have it. */
export type ByteChannel = {
  send(message: ByteStreamMessage): void
  sendBytes(bytes: Uint8Array): void
  /** True while the connection below has enough to send: `turn` comes when there is room. */
  congested(): boolean
  /** Ends the IPC stream. */
  end(failure?: Error): void
}

export type ByteStream = {
  duplex: Duplex
  onMessage(message: unknown): void
  onBytes(bytes: Buffer): void
  /** The other side has ended the IPC stream: cut off, unless it had said before that it sends no more. */
  onEnd(failure: Error | undefined): void
  /** Sends a little of what was held back, and tells whether there is more. */
  onTurn(): boolean
}

const windowBytes = 256 * 1024
const pieceBytes = 64 * 1024

type Held = { bytes: Uint8Array; done: (failure?: Error | null) => void }

/** A connection over an IPC stream: as fast as the slower side, and never in the way of other streams. */
export function byteStream(channel: ByteChannel, onOpened: () => void = () => {}): ByteStream {
  let held: Held | undefined
  let onTheWay = 0
  let unused = 0
  let heard = true
  let gone = false

  const acknowledge = (): void => {
    if (unused === 0 || gone) return
    channel.send({ type: 'ack', bytes: unused })
    unused = 0
  }
  const sendPiece = (): boolean => {
    if (!held || onTheWay >= windowBytes) return false
    const piece = held.bytes.subarray(0, pieceBytes)
    channel.sendBytes(piece)
    onTheWay += piece.length
    if (piece.length < held.bytes.length) {
      held.bytes = held.bytes.subarray(piece.length)
      return true
    }
    const { done } = held
    held = undefined
    done()
    return held !== undefined
  }
  const sendAll = (): void => {
    while (held && onTheWay < windowBytes && !channel.congested()) sendPiece()
  }
  const finishReading = (): void => {
    if (!heard) return
    heard = false
    duplex.push(null)
  }

  const duplex = new Duplex({
    read: acknowledge,
    write(bytes: Buffer, _, done) {
      if (gone) return done() // what came may still be read
      held = { bytes, done }
      sendAll()
    },
    final(done) {
      if (!gone) channel.send({ type: 'finished' })
      done()
    },
    destroy(failure, done) {
      gone = true
      held = undefined
      channel.end(failure ?? undefined)
      done(failure)
    },
  })

  return {
    duplex,
    onMessage(message) {
      const parsed = ByteStreamMessage.safeParse(message)
      if (!parsed.success) duplex.destroy(new Error('The other side sent a message that is none.'))
      else if (parsed.data.type === 'opened') onOpened()
      else if (parsed.data.type === 'finished') finishReading()
      else {
        onTheWay -= parsed.data.bytes
        sendAll()
      }
    },
    onBytes(bytes) {
      if (!heard || gone) return
      unused += bytes.length
      if (duplex.push(bytes)) acknowledge()
    },
    onEnd(failure) {
      gone = true
      if (failure || heard) {
        duplex.destroy(failure ?? new Error('The connection was cut off.'))
        return
      }
      const waiting = held
      held = undefined
      waiting?.done()
    },
    onTurn: sendPiece,
  }
}
