import { expect, test } from 'vitest'
import { computeContrast } from './contrast.ts'
import { paletteColors } from './terminalTheme.ts'
import { terminalThemes } from './terminalThemes.ts'

test('contrast is measured as WCAG says', () => {
  expect(computeContrast('#ffffff', '#000000')).toBeCloseTo(21)
  expect(computeContrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(computeContrast('#123456', '#123456')).toBe(1)
})

test('each theme has a name of its own, and there are some for the dark and some for the light', () => {
  expect(new Set(terminalThemes.map(({ id }) => id)).size).toBe(terminalThemes.length)
  expect(new Set(terminalThemes.map(({ label }) => label)).size).toBe(terminalThemes.length)
  expect(new Set(terminalThemes.map(({ kind }) => kind))).toEqual(new Set(['dark', 'light']))
})

test.each(terminalThemes)('$label can be read', ({ kind, colors }) => {
  const text = ['foreground', 'cursor', ...paletteColors.filter((it) => kind === 'light' || it !== 'black')] as const
  for (const color of text) {
    expect(computeContrast(colors[color], colors.background), color).toBeGreaterThanOrEqual(4.5)
  }
})

test.each(terminalThemes)('$label is as dark or light as it says', ({ kind, colors }) => {
  const onBlack = computeContrast(colors.background, '#000000')
  expect(kind === 'dark').toBe(onBlack < 3)
})
