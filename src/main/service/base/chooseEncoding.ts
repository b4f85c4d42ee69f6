import { isUtf8 } from 'node:buffer'

/** Shorter output stays text regardless of its encoded size, because users read it. In bytes. */
export const minEscapedBytes = 64 * 1024

/** Returns `base64` if one part is not UTF-8, or if JSON escapes would more than double long text. */
export function chooseEncoding(...parts: readonly Buffer[]): 'utf8' | 'base64' {
  if (!parts.every((part) => isUtf8(part))) return 'base64'
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length < minEscapedBytes) return 'utf8'
  const escapes = parts.reduce((sum, part) => sum + countEscapes(part), 0)
  return escapes > length ? 'base64' : 'utf8'
}

const shortEscapes = new Set([...'\b\t\n\f\r"\\'].map((character) => character.charCodeAt(0)))
/** Additional bytes of each byte's JSON escape. */
const escapeBytes = Uint8Array.from({ length: 256 }, (_, byte) => (shortEscapes.has(byte) ? 1 : byte < 0x20 ? 5 : 0))

function countEscapes(bytes: Buffer): number {
  let count = 0
  for (let index = 0; index < bytes.length; index++) count += escapeBytes[bytes[index] ?? 0] ?? 0
  return count
}
