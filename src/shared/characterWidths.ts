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
 * Creates a width provider that matches wcwidth of the C library, code point by code point, because programs position
 * text with it. A flag or a family emoji is therefore as wide as the sum of its parts.
 */
export function createCharacterWidths(): CharacterWidths {
  return {
    version: 'steward',
    wcwidth: getCells,
    charProperties(codePoint, preceding) {
      const cells = getCells(codePoint)
      const before = (preceding >> widthShift) & widthMask
      // A combining mark joins the previous character, which keeps its width.
      return cells === 0 && before > 0 ? (before << widthShift) | joins : cells << widthShift
    },
  }
}

function getCells(codePoint: number): 0 | 1 | 2 {
  if (codePoint >= 0x20 && codePoint < 0x7f) return 1
  if (isWithin(twoCells, codePoint)) return 2
  return isWithin(noCells, codePoint) ? 0 : 1
}

/** @param bounds alternating start and end of each range */
function isWithin(bounds: readonly number[], codePoint: number): boolean {
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((bounds[middle] ?? 0) <= codePoint) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}
