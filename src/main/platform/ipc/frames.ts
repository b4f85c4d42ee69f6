import type { Socket } from 'node:net'

/**
 * Wire format between two processes of Steward: a JSON header and raw bytes, each prefixed with its length (two
 * unsigned 32-bit integers, big-endian).
 */
export type Frame = { header: unknown; body: Buffer }

const prefixBytes = 8
const maxHeaderBytes = 16 * 1024 * 1024
const maxBodyBytes = 256 * 1024 * 1024
const empty = Buffer.alloc(0)

/** @returns false if the buffer of the socket is full; the caller should wait for `drain` */
export function writeFrame(socket: Socket, header: unknown, body: Uint8Array = empty): boolean {
  const head = Buffer.from(JSON.stringify(header))
  const prefix = Buffer.allocUnsafe(prefixBytes + head.length)
  prefix.writeUInt32BE(head.length, 0)
  prefix.writeUInt32BE(body.length, 4)
  head.copy(prefix, prefixBytes)
  if (body.length === 0) return socket.write(prefix)
  socket.cork()
  socket.write(prefix)
  const flowing = socket.write(body)
  socket.uncork()
  return flowing
}

/**
 * Creates a reader that splits received bytes into frames. Throws for a frame that exceeds the limits, which ends the
 * connection. A chunk may be reused after the call. The receiver owns the body of a frame: each byte is copied once,
 * into a buffer of the final size.
 */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  const prefix = Buffer.alloc(prefixBytes)
  let prefixed = 0
  let present: { header: Piece; body: Piece } | undefined

  const begin = (): { header: Piece; body: Piece } => {
    const headBytes = prefix.readUInt32BE(0)
    const bodyBytes = prefix.readUInt32BE(4)
    if (headBytes > maxHeaderBytes || bodyBytes > maxBodyBytes) throw new Error('The frame is too large.')
    prefixed = 0
    return { header: slicePiece(headBytes), body: slicePiece(bodyBytes) }
  }

  return (chunk) => {
    for (let offset = 0; offset < chunk.length; ) {
      if (!present) {
        const copiedBytes = chunk.copy(prefix, prefixed, offset)
        prefixed += copiedBytes
        offset += copiedBytes
        if (prefixed < prefixBytes) return
        present = begin()
      }
      offset = present.header.take(chunk, offset)
      offset = present.body.take(chunk, offset)
      if (!present.header.isWhole() || !present.body.isWhole()) return
      const { header, body } = present
      present = undefined
      onFrame({ header: JSON.parse(header.bytes().toString('utf8')) as unknown, body: body.bytes() })
    }
  }
}

type Piece = { take(chunk: Buffer, offset: number): number; isWhole(): boolean; bytes(): Buffer }

/** Maximum memory allocated for bytes that are announced but not received. */
const announcedBytes = 1024 * 1024

function slicePiece(size: number): Piece {
  let buffer = size === 0 ? empty : Buffer.allocUnsafe(Math.min(size, announcedBytes))
  let filled = 0
  return {
    take(chunk, offset) {
      const copiedBytes = Math.min(size - filled, chunk.length - offset)
      if (filled + copiedBytes > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(size, Math.max(2 * buffer.length, filled + copiedBytes)))
        buffer.copy(larger, 0, 0, filled)
        buffer = larger
      }
      chunk.copy(buffer, filled, offset, offset + copiedBytes)
      filled += copiedBytes
      return offset + copiedBytes
    },
    isWhole: () => filled === size,
    bytes: () => buffer,
  }
}
