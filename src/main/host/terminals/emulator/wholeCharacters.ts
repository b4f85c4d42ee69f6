/**
 * Counts the trailing bytes of an incomplete UTF-8 character: 0 to 3. Invalid bytes count as complete, because more
 * bytes would not help.
 */
export function countUnfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return byte < 0xf8 && back < countCharacterBytes(byte) ? back : 0
  }
  return 0
}

/** Counts the leading bytes that continue an earlier character. */
export function countOrphaned(bytes: Uint8Array): number {
  let count = 0
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++
  return count
}

function countCharacterBytes(lead: number): number {
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
