import { coloursOf, cutBefore, plainPart } from './unseenOutput.ts'

/**
 * Plain output that a screen has taken but not parsed yet. As long as a flood goes on and nobody looks, what scrolls
 * out for good is dropped from here, so that the flood costs no more than a look at its bytes.
 */
export type PlainBacklog = {
  readonly isEmpty: boolean
  /** Takes all of it, or nothing if it is not plain or too much would be kept. */
  take(bytes: Uint8Array, keptLines: number): boolean
  /** Returns everything to parse, and empties the backlog. */
  drain(): Buffer
}

const mostBytes = 4 * 1024 * 1024
const nothing = new Uint8Array(0)

export function plainBacklog(): PlainBacklog {
  let parts: Uint8Array[] = []
  let size = 0
  /** An unfinished sequence or character that the next bytes may complete. */
  let begun: Uint8Array = nothing

  const keep = (kept: Uint8Array[]): void => {
    parts = kept
    size = kept.reduce((total, part) => total + part.length, 0)
  }

  /** @returns false when most of it may still be seen */
  const shrink = (added: Uint8Array, keptLines: number): boolean => {
    const bytes = Buffer.concat([...parts, added])
    const cut = cutBefore({ bytes, from: 0, until: bytes.length, keptLines })
    if (bytes.length - cut > mostBytes / 2) return false
    // A copy, so that dropped bytes can be freed.
    keep([coloursOf(bytes, 0, cut), new Uint8Array(bytes.subarray(cut))])
    return true
  }

  return {
    get isEmpty() {
      return size === 0 && begun.length === 0
    },
    take(bytes, keptLines) {
      const whole = begun.length === 0 ? bytes : Buffer.concat([begun, bytes])
      const { until, unfinished } = plainPart(whole, 0)
      if (until < whole.length && !unfinished) return false
      const plain = whole.subarray(0, until)
      if (size + plain.length > mostBytes) {
        if (!shrink(plain, keptLines)) return false
      } else keep([...parts, plain])
      begun = new Uint8Array(whole.subarray(until))
      return true
    },
    drain() {
      const bytes = Buffer.concat([...parts, begun])
      keep([])
      begun = nothing
      return bytes
    },
  }
}
