import { expect, test } from 'vitest'
import { screen } from './screen.ts'
import { createScreenBudget } from './screenBudget.ts'

const ignore = { onAnswer: () => {}, onTitle: () => {}, onBell: () => {}, onNotice: () => {} }
const newScreen = () => screen({ cols: 100, rows: 10, ...ignore })
const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Writes all of the output, and applies the budget after each turn. */
function draw(to: ReturnType<typeof screen>, text: string, parsed: () => void = () => {}): void {
  const bytes = bytesOf(text)
  for (let at = 0; at < bytes.length; ) {
    at = to.parse(bytes, at)
    parsed()
  }
}

const textOf = (of: ReturnType<typeof screen>) =>
  new TextDecoder().decode(of.reply({ kind: 'read', full: true, format: 'text' }).bytes)

test('a screen of costly characters loses its oldest lines, others lose none', () => {
  let nowMs = 0
  const budget = createScreenBudget({ maxBytes: 800_000, now: () => (nowMs += 1_000) })
  const [usual, costly] = [newScreen(), newScreen()]
  draw(usual, `${'usual\r\n'.repeat(1_000)}`, () => budget.parsed(usual))
  const row = `a${'\u0301'.repeat(15)}`.repeat(100)
  draw(costly, `first\r\n${row.repeat(600)}last`, () => budget.parsed(costly))
  expect(usual.weigh() + costly.weigh()).toBeLessThanOrEqual(1_000_000)
  expect(textOf(usual).split('usual').length).toBe(1_001)
  const text = textOf(costly)
  expect(text.includes('first')).toBe(false)
  expect(text.endsWith('last')).toBe(true)
  expect(text).toContain(row.slice(0, 160))
})

test('releases the memory of a closed screen', () => {
  let nowMs = 0
  const budget = createScreenBudget({ maxBytes: 1_000, now: () => (nowMs += 1_000) })
  const drops: string[] = []
  const fake = (name: string, bytes: number) => ({ weigh: () => bytes, dropOldest: () => void drops.push(name) })
  const [one, other] = [fake('one', 800), fake('other', 300)]
  budget.parsed(one)
  expect(drops).toEqual([])
  budget.parsed(other)
  expect(drops).toEqual(['one'])
  budget.closed(one)
  budget.parsed(other)
  expect(drops).toEqual(['one'])
})
