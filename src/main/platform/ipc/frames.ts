import type { Socket } from 'node:net'

/**
 * The wire between two processes of Steward: a JSON header and raw bytes, each with its length before it
 * (two unsigned 32-bit integers, big-endian).
 */
export type Frame = { header: unknown; body: Buffer }

const prefixBytes = 8
const maxHeaderBytes = 16 * 1024 * 1024
const maxBodyBytes = 256 * 1024 * 1024
const empty = Buffer.alloc(0)

/** @returns false when the socket holds more than its buffer: wait for `drain`. */
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

/** Cuts what arrives into frames. A frame that breaks the limits ends the connection by throwing. */
export function frameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let held: Buffer[] = []
  let heldBytes = 0
  let wanted = prefixBytes

  const take = (): Buffer => {
    const whole = held.length === 1 ? (held[0] ?? empty) : Buffer.concat(held, heldBytes)
    held = []
    heldBytes = 0
    return whole
  }

  return (chunk) => {
    held.push(chunk)
    heldBytes += chunk.length
    if (heldBytes < wanted) return
    let rest = take()
    wanted = prefixBytes
    while (rest.length >= prefixBytes) {
      const headBytes = rest.readUInt32BE(0)
      const bodyBytes = rest.readUInt32BE(4)
      if (headBytes > maxHeaderBytes || bodyBytes > maxBodyBytes) throw new Error('A frame is larger than allowed.')
      const size = prefixBytes + headBytes + bodyBytes
      if (rest.length < size) {
        wanted = size
        break
      }
      const header: unknown = JSON.parse(rest.toString('utf8', prefixBytes, prefixBytes + headBytes))
      onFrame({ header, body: rest.subarray(prefixBytes + headBytes, size) })
      rest = rest.subarray(size)
    }
    if (rest.length > 0) {
      held = [rest]
      heldBytes = rest.length
    }
  }
}
