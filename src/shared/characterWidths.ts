import { noCells, twoCells } from './characterWidthRanges.ts'

/** Character widths in the format of xterm.js: properties are `state << 3 | width << 1 | joinsPrevious`. */
export type CharacterWidths = {
  readonly version: string
  wcwidth(codePoint: number): 0 | 1 | 2
  charProperties(codePoint: number, preceding: number): number
}

const widthShift = 1
const widthMask = 3
const joins = 1

/**
 * Widths as the C library counts them, character by character: programs place what follows by that count. So a flag or a
 * family of several emoji takes as many cells as its parts.
 */
export function createCharacterWidths(): CharacterWidths {
  return {
    version: 'steward',
    wcwidth: getCells,
    charProperties(codePoint, preceding) {
      const cells = getCells(codePoint)
      const before = (preceding >> widthShift) & widthMask
      // A mark joins the character before it, which keeps its width.
      return cells === 0 && before > 0 ? (before << widthShift) | joins : cells << widthShift
    },
  }
}

function getCells(codePoint: number): 0 | 1 | 2 {
  if (codePoint >= 0x20 && codePoint < 0x7f) return 1
  if (isWithin(twoCells, codePoint)) return 2
  return isWithin(noCells, codePoint) ? 0 : 1
}

/** @param bounds where ranges begin and end, by turns */
function isWithin(bounds: readonly number[], codePoint: number): boolean {
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((bounds[middle] ?? 0) <= codePoint) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}
