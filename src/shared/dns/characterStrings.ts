import { utf8Bytes, utf8Text } from '../utf8.ts'

/**
 * The text of character strings as a zone file has them: `"one" "two"`, `\"`, `\\` and `\065` within.
 * @returns undefined where the quotes do not match, or the bytes are no text
 */
export function characterStrings(quoted: string): string | undefined {
  const bytes: number[] = []
  let at = 0
  while (at < quoted.length) {
    if (quoted[at] !== '"') return undefined
    at += 1
    while (quoted[at] !== '"') {
      if (at >= quoted.length) return undefined
      const escaped = /^\\(\d{3}|[^\d])/su.exec(quoted.slice(at, at + 4))
      const [whole = '', what = ''] = escaped ?? []
      if (quoted[at] === '\\' && !escaped) return undefined
      if (escaped && what.length === 3) {
        if (Number(what) > 255) return undefined
        bytes.push(Number(what))
        at += whole.length
        continue
      }
      const character = escaped ? what : String.fromCodePoint(quoted.codePointAt(at) ?? 0)
      bytes.push(...utf8Bytes(character))
      at += escaped ? whole.length : character.length
    }
    at += 1
    const gap = /^\s*/.exec(quoted.slice(at))?.[0].length ?? 0
    if (gap === 0 && at < quoted.length) return undefined
    at += gap
  }
  return utf8Text(bytes)
}

const mostBytes = 255

/** Cuts the text of a TXT record into strings of at most 255 bytes, as they go over the wire. */
export function textPieces(text: string): Uint8Array[] {
  const bytes = Uint8Array.from(utf8Bytes(text))
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += mostBytes) pieces.push(bytes.subarray(at, at + mostBytes))
  return pieces
}

/** As a zone file has it: strings of at most 255 bytes, with what is not plain ASCII as `\ddd`. */
export function quotedText(text: string): string {
  const quoted = (piece: Uint8Array) => `"${[...piece].map(quotedByte).join('')}"`
  return textPieces(text).map(quoted).join(' ')
}

function quotedByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
}
