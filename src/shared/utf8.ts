/** Encodes a text as UTF-8. Lone surrogates become U+FFFD. */
export function encodeUtf8(text: string): number[] {
  const escaped = encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
  return [...escaped.matchAll(/%([0-9A-F]{2})|[^%]/g)].map(([match, hex]) =>
    hex === undefined ? match.charCodeAt(0) : Number.parseInt(hex, 16),
  )
}

/** @returns undefined for invalid UTF-8 */
export function decodeUtf8(bytes: readonly number[]): string | undefined {
  try {
    return decodeURIComponent(bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''))
  } catch {
    return undefined
  }
}
