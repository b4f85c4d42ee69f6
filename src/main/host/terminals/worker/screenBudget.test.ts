import { expect, test } from 'vitest'
import { createScreen } from '../emulator/screen.ts'
import { createScreenBudget } from './screenBudget.ts'

const ignore = { onAnswer: () => {}, onTitle: () => {}, onBell: () => {}, onNotice: () => {} }
const newScreen = () => createScreen({ cols: 100, rows: 10, ...ignore })
const toBytes = (text: string) => new TextEncoder().encode(text)

/** Writes all of the output and applies the budget after each turn. */
function draw(to: ReturnType<typeof createScreen>, text: string, parsed: () => void = () => {}): void {
  const bytes = toBytes(text)
  for (let offset = 0; offset < bytes.length; ) {
    offset = to.parse(bytes, offset)
    parsed()
  }
}

const readText = (target: ReturnType<typeof createScreen>) =>
  new TextDecoder().decode(target.reply({ kind: 'read', full: true, format: 'text' }).bytes)

test('a screen of costly characters drops its oldest lines, other screens drop none', () => {
  let nowMs = 0
  const budget = createScreenBudget({ maxBytes: 800_000, now: () => (nowMs += 1_000) })
  const [normal, costly] = [newScreen(), newScreen()]
  draw(normal, `${'usual\r\n'.repeat(1_000)}`, () => budget.recordParsed(normal))
  const row = `a${'\u0301'.repeat(15)}`.repeat(100)
  draw(costly, `first\r\n${row.repeat(600)}last`, () => budget.recordParsed(costly))
  expect(normal.weigh() + costly.weigh()).toBeLessThanOrEqual(1_000_000)
  expect(readText(normal).split('usual').length).toBe(1_001)
  const text = readText(costly)
  expect(text.includes('first')).toBe(false)
  expect(text.endsWith('last')).toBe(true)
  expect(text).toContain(row.slice(0, 160))
})

test('releases the memory of a closed screen', () => {
  let nowMs = 0
  const budget = createScreenBudget({ maxBytes: 1_000, now: () => (nowMs += 1_000) })
  const drops: string[] = []
  const fake = (name: string, bytes: number) => ({ weigh: () => bytes, dropOldest: () => void drops.push(name) })
  const [first, second] = [fake('one', 800), fake('other', 300)]
  budget.recordParsed(first)
  expect(drops).toEqual([])
  budget.recordParsed(second)
  expect(drops).toEqual(['one'])
  budget.closed(first)
  budget.recordParsed(second)
  expect(drops).toEqual(['one'])
})
