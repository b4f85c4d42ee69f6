import { expect, test } from 'vitest'
import type { TimelineEntry } from '../../../../shared/contract/timeline.ts'
import { dayLabel, timelineItems } from './timelineItems.ts'

const now = new Date(2026, 2, 30, 0, 5)
const entry = (sequence: number, at: Date): TimelineEntry => ({
  sequence,
  at: at.toISOString(),
  kind: 'system.started',
  actor: { kind: 'system', name: 'Steward' },
  subject: null,
  summary: 'Steward started.',
  detail: {},
  previous_hash: '',
  hash: '',
  problem: null,
})

test('names days as a person does, over a change of the clocks too', () => {
  expect(dayLabel(new Date(2026, 2, 30, 0, 1), now)).toBe('Today')
  expect(dayLabel(new Date(2026, 2, 29, 23, 59), now)).toBe('Yesterday')
  expect(dayLabel(new Date(2026, 2, 28, 1), now)).toMatch(/^Saturday,? 28 March 2026$/)
})

test('puts a line before each day, and again where a day comes again', () => {
  const [today, yesterday] = [new Date(2026, 2, 30, 0, 2), new Date(2026, 2, 29, 12)]
  const items = timelineItems([entry(4, today), entry(3, yesterday), entry(2, yesterday), entry(1, today)], now)
  expect(items.map((item) => (item.kind === 'day' ? item.label : item.entry.sequence))).toEqual([
    'Today',
    4,
    'Yesterday',
    3,
    2,
    'Today',
    1,
  ])
  expect(new Set(items.map(({ key }) => key)).size).toBe(items.length)
  expect(timelineItems([], now)).toEqual([])
})
