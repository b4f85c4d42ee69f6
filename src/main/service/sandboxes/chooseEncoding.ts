import { isUtf8 } from 'node:buffer'

/** Shorter text stays text whatever it costs: a person reads it. In bytes. */
export const minEscapedBytes = 64 * 1024

/** `base64` for parts of which one is not UTF-8, and for long ones that escapes of JSON would more than double. */
export function chooseEncoding(...parts: readonly Buffer[]): 'utf8' | 'base64' {
  if (!parts.every((part) => isUtf8(part))) return 'base64'
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length < minEscapedBytes) return 'utf8'
  const escapes = parts.reduce((sum, part) => sum + countEscapes(part), 0)
  return escapes > length ? 'base64' : 'utf8'
}

const shortEscapes = new Set([...'\b\t\n\f\r"\\'].map((character) => character.charCodeAt(0)))
/** By byte: how many bytes more it has in a text of JSON. */
const escapeBytes = Uint8Array.from({ length: 256 }, (_, byte) => (shortEscapes.has(byte) ? 1 : byte < 0x20 ? 5 : 0))

function countEscapes(bytes: Buffer): number {
  let count = 0
  for (let index = 0; index < bytes.length; index++) count += escapeBytes[bytes[index] ?? 0] ?? 0
  return count
}
