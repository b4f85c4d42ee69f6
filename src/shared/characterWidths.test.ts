import { expect, test } from 'vitest'
import { readLibraryWidths } from '#scripts/characterWidths.ts'
import { createCharacterWidths } from './characterWidths.ts'

const { wcwidth, charProperties } = createCharacterWidths()

test.each([
  ['a', 1],
  ['ü', 1],
  ['漢', 2],
  ['한', 2],
  ['\u1160', 0], // Hangul vowel, part of the preceding syllable
  ['\u0301', 0],
  ['\u200d', 0],
  ['\ufe0f', 0],
  ['\u00ad', 1], // soft hyphen, which is visible
  ['🇩', 1], // regional indicator, two of which form a flag
  ['❤', 1],
  ['🚀', 2], // Unicode 6
  ['🥱', 2], // Unicode 12
  ['🪤', 2], // Unicode 13
  ['🫠', 2], // Unicode 14
  ['🫨', 2], // Unicode 15
  ['🫩', 2], // Unicode 16
  ['\u{1fac8}', 2], // Unicode 17, newer than the tables
  ['\u{1face}', 2], // not assigned yet
  ['\u{31350}', 2], // ideograph from Unicode 15
  ['\ue0b0', 1], // Powerline arrow in the private use area
  ['\u0378', 1], // unassigned
])('gives %s a width of %i cells', (character, cells) => {
  expect(wcwidth(character.codePointAt(0) ?? 0)).toBe(cells)
})

test('joins a combining mark to the preceding character without an extra cell', () => {
  const wide = charProperties(0x1fae0, 0)
  expect(wide).toBe(2 << 1)
  expect(charProperties(0x0301, wide)).toBe((2 << 1) | 1)
  expect(charProperties(0x0301, 0)).toBe(0)
  expect(charProperties(0x61, wide)).toBe(1 << 1)
})

test('matches the character widths of the C library', (context) => {
  if (process.platform !== 'linux') return context.skip('there is no glibc to compare with')
  const { version, getWidth: widthOf } = readLibraryWidths()
  if (version !== '2.36') return context.skip(`the table was made with glibc 2.36, here is ${version}`)
  const others = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint).filter((codePoint) => {
    const cells = widthOf(codePoint)
    return cells >= 0 && cells !== wcwidth(codePoint)
  })
  expect(others).toEqual([])
})
