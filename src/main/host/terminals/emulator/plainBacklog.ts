import { findColors, findLastLines, findPlainPart } from './unseenOutput.ts'

/**
 * Plain output that a screen has accepted but not parsed. During a flood without viewers, output that scrolls out is
 * dropped here, so that the flood costs no more than a scan of its bytes.
 */
export type PlainBacklog = {
  readonly isEmpty: boolean
  /** Accepts all bytes, or none if they are not plain or exceed the limit. */
  take(bytes: Uint8Array, maxLines: number): boolean
  drain(): Buffer
}

const maxBytes = 4 * 1024 * 1024
const emptyBytes = new Uint8Array(0)

export function createPlainBacklog(): PlainBacklog {
  let parts: Uint8Array[] = []
  let size = 0
  /** Incomplete sequence or character, which the next bytes may complete. */
  let begun: Uint8Array = emptyBytes

  const keep = (chunks: Uint8Array[]): void => {
    parts = chunks
    size = chunks.reduce((total, part) => total + part.length, 0)
  }

  /** @returns false if most of the output may still become visible */
  const shrink = (added: Uint8Array, maxLines: number): boolean => {
    const bytes = Buffer.concat([...parts, added])
    const cut = findLastLines({ bytes, from: 0, until: bytes.length, maxLines })
    if (bytes.length - cut > maxBytes / 2) return false
    // Copied, so that the dropped bytes can be freed.
    keep([findColors(bytes, 0, cut), new Uint8Array(bytes.subarray(cut))])
    return true
  }

  return {
    get isEmpty() {
      return size === 0 && begun.length === 0
    },
    take(bytes, maxLines) {
      const whole = begun.length === 0 ? bytes : Buffer.concat([begun, bytes])
      const { until, unfinished } = findPlainPart(whole, 0)
      if (until < whole.length && !unfinished) return false
      const plain = whole.subarray(0, until)
      if (size + plain.length > maxBytes) {
        if (!shrink(plain, maxLines)) return false
      } else keep([...parts, plain])
      begun = new Uint8Array(whole.subarray(until))
      return true
    },
    drain() {
      const bytes = Buffer.concat([...parts, begun])
      keep([])
      begun = emptyBytes
      return bytes
    },
  }
}
