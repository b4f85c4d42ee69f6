const headerBytes = 12
/** A pointer has 14 bits for the offset. */
const maxOffset = 0x3fff
const pointerBits = 0xc000

/**
 * Replaces repeated owner names of a message by pointers to their first occurrence (RFC 1035, section 4.1.4), so that
 * more records fit into a datagram. Names in record data stay unchanged.
 * @param message an encoded message without pointers
 */
export function compressNames(message: Buffer): Buffer {
  const output = Buffer.alloc(message.length)
  /** Offset in `output` of each name, keyed by its encoded labels. */
  const offsets = new Map<string, number>()
  let read = headerBytes
  let written = message.copy(output, 0, 0, headerBytes)

  const copy = (bytes: number): void => {
    written += message.copy(output, written, read, read + bytes)
    read += bytes
  }
  const writeName = (): void => {
    const start = read
    let end = start
    while (message.readUInt8(end) !== 0) end += message.readUInt8(end) + 1
    while (read < end) {
      const suffix = message.toString('latin1', read, end)
      const offset = offsets.get(suffix)
      if (offset !== undefined) {
        written = output.writeUInt16BE(pointerBits | offset, written)
        read = end + 1
        return
      }
      if (written <= maxOffset) offsets.set(suffix, written)
      copy(message.readUInt8(read) + 1)
    }
    copy(1) // the root
  }

  const questions = message.readUInt16BE(4)
  for (let index = 0; index < questions; index += 1) {
    writeName()
    copy(4)
  }
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10)
  for (let index = 0; index < records; index += 1) {
    writeName()
    copy(10 + message.readUInt16BE(read + 8))
  }
  return output.subarray(0, written)
}
