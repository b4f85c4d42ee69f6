import { expect, test } from 'vitest'
import { clampFontSize, defaultPreferences, resolveTheme, TerminalPreferences } from './terminalPreferences.ts'

test('rejects preferences of another version', () => {
  expect(TerminalPreferences.safeParse({ version: 2, fontSize: 20 }).success).toBe(false)
  expect(TerminalPreferences.safeParse({}).success).toBe(false)
})

test('round-trips chosen preferences', () => {
  const chosen = { ...defaultPreferences, fontSize: 20, darkTheme: 'ember', copyOnSelect: true, lineHeight: 1.2 }
  expect(TerminalPreferences.parse(chosen)).toEqual(chosen)
})

test('replaces only an invalid value with its default', () => {
  const written = { version: 1, fontSize: 20, lineHeight: 'tall', darkTheme: 'paper', bellSound: 1, unknown: true }
  expect(TerminalPreferences.parse(written)).toEqual({ ...defaultPreferences, fontSize: 20 })
})

test('the theme follows the window unless set otherwise', () => {
  const chosen = { ...defaultPreferences, darkTheme: 'pine', lightTheme: 'paper' }
  expect(resolveTheme(chosen, 'dark').id).toBe('pine')
  expect(resolveTheme(chosen, 'light').id).toBe('paper')
  expect(resolveTheme({ ...chosen, ground: 'dark' }, 'light').id).toBe('pine')
  expect(resolveTheme({ ...chosen, ground: 'light' }, 'dark').id).toBe('paper')
})

test('limits the font size to a readable range', () => {
  expect([Number.NaN, 0, 13.4, 500].map(clampFontSize)).toEqual([13, 8, 13, 32])
})
