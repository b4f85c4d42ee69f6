import { expect, test } from 'vitest'
import { readLibraryWidths } from '#scripts/characterWidths.ts'
import { createCharacterWidths } from './characterWidths.ts'

const { wcwidth, charProperties } = createCharacterWidths()

test.each([
  ['a', 1],
  ['ü', 1],
  ['漢', 2],
  ['한', 2],
  ['\u1160', 0], // a vowel of Hangul, within the syllable before
  ['\u0301', 0],
  ['\u200d', 0],
  ['\ufe0f', 0],
  ['\u00ad', 1], // a soft hyphen shows
  ['🇩', 1], // a flag is two of these
  ['❤', 1],
  ['🚀', 2], // Unicode 6
  ['🥱', 2], // 12
  ['🪤', 2], // 13
  ['🫠', 2], // 14
  ['🫨', 2], // 15
  ['🫩', 2], // 16
  ['\u{1fac8}', 2], // 17, later than the tables
  ['\u{1face}', 2], // nobody knows yet
  ['\u{31350}', 2], // an ideograph of 15
  ['\ue0b0', 1], // an arrow of Powerline, for private use
  ['\u0378', 1], // not assigned
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
