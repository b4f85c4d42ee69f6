import { expect, test } from 'vitest'
import type { TimelineEntry } from '../../../../shared/contract/timeline.ts'
import { dayLabel, rowsOf, timelineItems } from './timelineItems.ts'

const now = new Date(2026, 2, 30, 0, 5)
const entry = (sequence: number, at: Date): TimelineEntry => ({
  sequence,
  at: at.toISOString(),
  kind: 'system.started',
  actor: { kind: 'system', name: 'Steward' },
  subject: null,
  summary: 'Steward started.',
  detail: {},
  task: null,
  links: {},
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
  expect(items.map((item) => (item.kind === 'day' ? item.label : item.row.entries[0].sequence))).toEqual([
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

const ofIntent = (sequence: number, kind: string, id = 'intent'): TimelineEntry => ({
  ...entry(sequence, now),
  kind,
  subject: id,
})
const shape = (entries: TimelineEntry[]) => rowsOf(entries).map((row) => row.entries.map(({ sequence }) => sequence))

test('a request is one row with all that became of it, where its newest entry is', () => {
  const grant = { ...entry(4, now), kind: 'grant.added', detail: { intent_id: 'intent' } }
  expect(
    shape([
      ofIntent(7, 'intent.signed'),
      entry(6, now),
      ofIntent(5, 'intent.approved'),
      grant,
      ofIntent(3, 'intent.asked', 'another'),
      ofIntent(2, 'intent.asked'),
    ]),
  ).toEqual([[7, 5, 4, 2], [6], [3]])
})

test('an entry that somebody changed stands alone', () => {
  const changed = { ...ofIntent(2, 'intent.approved'), problem: 'It was changed.' }
  expect(shape([ofIntent(3, 'intent.signed'), changed, ofIntent(1, 'intent.asked')])).toEqual([[3, 1], [2]])
})
