import { expect, test } from 'vitest'
import { computeContrast } from './contrast.ts'
import { paletteColors } from './terminalTheme.ts'
import { terminalThemes } from './terminalThemes.ts'

test('computes contrast according to WCAG', () => {
  expect(computeContrast('#ffffff', '#000000')).toBeCloseTo(21)
  expect(computeContrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(computeContrast('#123456', '#123456')).toBe(1)
})

test('themes have unique names and include dark and light ones', () => {
  expect(new Set(terminalThemes.map(({ id }) => id)).size).toBe(terminalThemes.length)
  expect(new Set(terminalThemes.map(({ label }) => label)).size).toBe(terminalThemes.length)
  expect(new Set(terminalThemes.map(({ kind }) => kind))).toEqual(new Set(['dark', 'light']))
})

test.each(terminalThemes)('$label has readable contrast', ({ kind, colors }) => {
  const text = ['foreground', 'cursor', ...paletteColors.filter((it) => kind === 'light' || it !== 'black')] as const
  for (const color of text) {
    expect(computeContrast(colors[color], colors.background), color).toBeGreaterThanOrEqual(4.5)
  }
})

test.each(terminalThemes)('$label matches its dark or light kind', ({ kind, colors }) => {
  const onBlack = computeContrast(colors.background, '#000000')
  expect(kind === 'dark').toBe(onBlack < 3)
})
