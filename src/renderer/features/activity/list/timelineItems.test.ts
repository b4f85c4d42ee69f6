import { expect, test } from 'vitest'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { buildTimelineItems, formatDay, groupRows } from './timelineItems.ts'

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

test('names days correctly across a daylight saving change', () => {
  expect(formatDay(new Date(2026, 2, 30, 0, 1), now)).toBe('Today')
  expect(formatDay(new Date(2026, 2, 29, 23, 59), now)).toBe('Yesterday')
  expect(formatDay(new Date(2026, 2, 28, 1), now)).toMatch(/^Saturday,? 28 March 2026$/)
})

test('inserts a heading before each day and again when a day recurs', () => {
  const [today, yesterday] = [new Date(2026, 2, 30, 0, 2), new Date(2026, 2, 29, 12)]
  const items = buildTimelineItems([entry(4, today), entry(3, yesterday), entry(2, yesterday), entry(1, today)], now)
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
  expect(buildTimelineItems([], now)).toEqual([])
})

const ofIntent = (sequence: number, kind: string, id = 'intent'): TimelineEntry => ({
  ...entry(sequence, now),
  kind,
  subject: id,
})
const shape = (entries: TimelineEntry[]) => groupRows(entries).map((row) => row.entries.map(({ sequence }) => sequence))

test('groups a request with its later entries at the newest one', () => {
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

test('shows a tampered entry in a separate row', () => {
  const changed = { ...ofIntent(2, 'intent.approved'), problem: 'It was changed.' }
  expect(shape([ofIntent(3, 'intent.signed'), changed, ofIntent(1, 'intent.asked')])).toEqual([[3, 1], [2]])
})

const ofTask = (sequence: number, kind: string, task: string | null = 'call:1'): TimelineEntry => ({
  ...entry(sequence, now),
  ...{ kind, task, summary: kind },
})
const led = (entries: TimelineEntry[]) =>
  groupRows(entries).map((row) => [row.key, (row.lead ?? row.entries[0]).summary, row.entries.length])

test('groups a tool call with its effects and leads with a single effect', () => {
  expect(led([ofTask(2, 'tool.called'), ofTask(1, 'sandbox.created')])).toEqual([['2', 'sandbox.created', 2]])
  // The service may report the event after the call has ended.
  expect(led([ofTask(2, 'sandbox.created'), ofTask(1, 'tool.called')])).toEqual([['1', 'sandbox.created', 2]])
  const two = [ofTask(3, 'tool.called'), ofTask(2, 'dns.added'), ofTask(1, 'dns.removed')]
  expect(led(two)).toEqual([['3', 'tool.called', 3]])
  expect(led([ofTask(2, 'tool.failed'), ofTask(1, 'dns.added')])).toEqual([['2', 'tool.failed', 2]])
})

test('groups a plan with the changes that it made', () => {
  const task = 'action:1'
  const changes = [5, 4, 3, 2, 1].map((sequence) => ofTask(sequence, 'dns.record-added', task))
  expect(led([ofTask(6, 'dns.applied', task), ...changes])).toEqual([['6', 'dns.applied', 6]])
})

test('does not group effects with several calls, no call or a tampered entry', () => {
  const twice = [ofTask(3, 'tool.called', 'call:2'), ofTask(2, 'tool.called', 'call:2'), ofTask(1, 'x', 'call:2')]
  expect(shape(twice)).toEqual([[3], [2], [1]])
  expect(shape([ofTask(2, 'tool.called', 'chat:1'), ofTask(1, 'sandbox.created', 'chat:1')])).toEqual([[2], [1]])
  expect(shape([ofTask(2, 'sandbox.created'), ofTask(1, 'sandbox.stopped')])).toEqual([[2], [1]])
  expect(shape([ofTask(2, 'tool.called', null), ofTask(1, 'x', null)])).toEqual([[2], [1]])
  expect(shape([ofTask(2, 'tool.called'), { ...ofTask(1, 'x'), problem: 'It was changed.' }])).toEqual([[2], [1]])
})

test('groups a purchase with its request, payment and effect', () => {
  const task = 'action:9'
  const asked = { ...ofIntent(1, 'intent.asked'), task }
  const signed = { ...ofIntent(2, 'intent.signed'), task }
  const paid = { ...ofTask(4, 'payment.settled', task), links: { intent: 'intent', payment: 'pay_1' } }
  const bought = ofTask(3, 'domain.registered', task)
  expect(led([paid, bought, signed, asked])).toEqual([['request intent', 'domain.registered', 4]])
  const other = { ...ofIntent(5, 'intent.asked', 'another'), task }
  expect(shape([other, paid, bought, signed, asked])).toEqual([[5], [4, 2, 1], [3]])
  const ofChat = { ...paid, task: 'chat:1' }
  expect(shape([ofChat, ofTask(3, 'domain.registered', 'chat:1'), signed])).toEqual([[4, 2], [3]])
})

test('shows the request of a call in a separate row', () => {
  const asked = { ...ofIntent(1, 'intent.asked'), task: 'call:1' }
  expect(shape([ofTask(3, 'tool.called'), ofTask(2, 'sandbox.deleted'), asked])).toEqual([[3, 2], [1]])
})
