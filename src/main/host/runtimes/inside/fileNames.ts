import { isUtf8 } from 'node:buffer'

/**
 * Encodes file names, which are bytes, as text. A byte that is not valid UTF-8 becomes the character U+EF00 plus the
 * byte, as do the bytes of an escape character itself. The mapping is a bijection.
 */
const escapes = 0xef00

export function decodeFileName(bytes: Buffer): string {
  if (isUtf8(bytes) && !hasEscape(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let index = 0; index < bytes.length; ) {
    const length = getSequenceLength(bytes, index)
    const piece = bytes.subarray(index, index + length)
    const whole = isUtf8(piece) && !hasEscape(piece)
    text += whole ? piece.toString('utf8') : String.fromCharCode(escapes + (bytes[index] ?? 0))
    index += whole ? length : 1
  }
  return text
}

export function encodeName(text: string): Buffer {
  if (!/[\uef80-\uefff]/.test(text)) return Buffer.from(text)
  return Buffer.concat(
    text
      .split(/([\uef80-\uefff])/)
      .map((part, index) => (index % 2 === 1 ? Buffer.of(part.charCodeAt(0) - escapes) : Buffer.from(part))),
  )
}

/** U+EF80 to U+EFFF are EE BE 80 to EE BF BF in UTF-8. */
function hasEscape(bytes: Buffer): boolean {
  for (let index = bytes.indexOf(0xee); index !== -1; index = bytes.indexOf(0xee, index + 1)) {
    if ((bytes[index + 1] ?? 0) >= 0xbe) return true
  }
  return false
}

function getSequenceLength(bytes: Buffer, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
