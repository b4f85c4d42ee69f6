import { decodeUtf8, encodeUtf8 } from '../utf8.ts'

/**
 * Parses the character strings of a zone file: `"one" "two"`, with the escapes `\"`, `\\` and `\065`.
 * @returns undefined if the quotes do not match, or if the bytes are not valid text
 */
export function parseCharacterStrings(quoted: string): string | undefined {
  const bytes: number[] = []
  let offset = 0
  while (offset < quoted.length) {
    if (quoted[offset] !== '"') return undefined
    offset += 1
    while (quoted[offset] !== '"') {
      if (offset >= quoted.length) return undefined
      const escaped = /^\\(\d{3}|[^\d])/su.exec(quoted.slice(offset, offset + 4))
      const [whole = '', code = ''] = escaped ?? []
      if (quoted[offset] === '\\' && !escaped) return undefined
      if (escaped && code.length === 3) {
        if (Number(code) > 255) return undefined
        bytes.push(Number(code))
        offset += whole.length
        continue
      }
      const character = escaped ? code : String.fromCodePoint(quoted.codePointAt(offset) ?? 0)
      bytes.push(...encodeUtf8(character))
      offset += escaped ? whole.length : character.length
    }
    offset += 1
    const gap = /^\s*/.exec(quoted.slice(offset))?.[0].length ?? 0
    if (gap === 0 && offset < quoted.length) return undefined
    offset += gap
  }
  return decodeUtf8(bytes)
}

const maxBytes = 255

/** Splits the text of a TXT record into strings of at most 255 bytes, as in the wire format. */
export function splitText(text: string): Uint8Array[] {
  const bytes = Uint8Array.from(encodeUtf8(text))
  const pieces: Uint8Array[] = []
  for (let offset = 0; offset < bytes.length; offset += maxBytes) pieces.push(bytes.subarray(offset, offset + maxBytes))
  return pieces
}

/** Formats text for a zone file: strings of at most 255 bytes, with bytes other than plain ASCII as `\ddd`. */
export function quoteText(text: string): string {
  const quoteChunk = (piece: Uint8Array) => `"${[...piece].map(quoteByte).join('')}"`
  return splitText(text).map(quoteChunk).join(' ')
}

function quoteByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
}
