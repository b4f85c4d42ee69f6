/** Finds which of many texts occur in a long one, in one pass that skips most of it (Wu and Manber, TR-94-17). */
export type TextSearch = (bytes: Uint8Array) => number[]

const blockBytes = 3
const tableBits = 16

/** @returns a function that returns the indexes of the texts that occur, in ascending order */
export function createTextSearch(texts: readonly Uint8Array[]): TextSearch {
  const window = Math.min(255, ...texts.map(({ length }) => length))
  if (window < blockBytes) throw new Error(`Each text to search for needs ${blockBytes} bytes at least.`)
  const { skips, endings } = createTables(texts, window)

  return (bytes) => {
    const tables = new Set<number>()
    for (let end = window; end <= bytes.length; ) {
      const block = blockBefore(bytes, end)
      const skip = skips[block] ?? 0
      for (const index of skip === 0 ? (endings.get(block) ?? []) : []) {
        if (!tables.has(index) && isAt(bytes, end - window, texts[index])) tables.add(index)
      }
      end += Math.max(1, skip)
    }
    return [...tables].sort((a, b) => a - b)
  }
}

/**
 * Computes the minimum distance of each block from the end of a window on a text, and the texts whose window ends with
 * it.
 */
function createTables(texts: readonly Uint8Array[], window: number) {
  const skips = new Uint8Array(1 << tableBits).fill(window - blockBytes + 1)
  const endings = new Map<number, number[]>()
  for (const [index, text] of texts.entries()) {
    for (let end = blockBytes; end <= window; end += 1) {
      const block = blockBefore(text, end)
      skips[block] = Math.min(skips[block] ?? 0, window - end)
    }
    const last = blockBefore(text, window)
    endings.set(last, [...(endings.get(last) ?? []), index])
  }
  return { skips, endings }
}

/** Blocks may collide, which only costs time. */
function blockBefore(bytes: Uint8Array, end: number): number {
  const first = bytes[end - 3] ?? 0
  const second = bytes[end - 2] ?? 0
  const third = bytes[end - 1] ?? 0
  return ((first << 8) ^ (second << 4) ^ third) & ((1 << tableBits) - 1)
}

function isAt(bytes: Uint8Array, from: number, text: Uint8Array | undefined): boolean {
  if (!text || from + text.length > bytes.length) return false
  for (let index = 0; index < text.length; index += 1) if (bytes[from + index] !== text[index]) return false
  return true
}
