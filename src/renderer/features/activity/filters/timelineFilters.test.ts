import { expect, test } from 'vitest'
import { AccountActivityType, ActivityType } from '#shared/contract/activity.ts'
import { listTimeline } from '#shared/contract/timeline.ts'
import { findArea, isFiltered, noFilters, toTimelineQuery } from './timelineFilters.ts'

const now = new Date(2026, 2, 10, 15, 30)
const iso = (...day: [number, number, number]) => new Date(...day).toISOString()

test('sends no filters by default', () => {
  expect(toTimelineQuery(noFilters, now)).toEqual({})
  expect(isFiltered(toTimelineQuery({ ...noFilters, search: '  ' }, now))).toBe(false)
})

test('sends search words, kinds of an area and an actor in contract form', () => {
  const query = toTimelineQuery(
    { ...noFilters, search: ' sign in ', area: 'approvals', actor: 'client', period: 'today' },
    now,
  )
  expect(query).toEqual({
    search: 'sign in',
    kinds: 'intent,grant,policy,stop',
    actor: 'client',
    from: iso(2026, 2, 10),
  })
  expect(listTimeline.query.safeParse(query).success).toBe(true)
  expect(isFiltered(query)).toBe(true)
})

test('counts whole local days including the current one', () => {
  expect(toTimelineQuery({ ...noFilters, period: 'week' }, now)).toEqual({ from: iso(2026, 2, 4) })
  expect(toTimelineQuery({ ...noFilters, period: 'month' }, now)).toEqual({ from: iso(2026, 1, 9) })
})

test('accepts a range with both days or one', () => {
  const between = { ...noFilters, period: 'between' } as const
  expect(toTimelineQuery({ ...between, from: '2026-02-27', to: '2026-02-28' }, now)).toEqual({
    from: iso(2026, 1, 27),
    to: iso(2026, 2, 1),
  })
  expect(toTimelineQuery({ ...between, to: '2026-12-31' }, now)).toEqual({ to: iso(2027, 0, 1) })
  expect(toTimelineQuery({ ...between, from: 'soon' }, now)).toEqual({})
})

test('assigns an area to every kind of a service entry', () => {
  for (const kind of [
    'chat.asked',
    'log.cut',
    'payment.settled',
    ...ActivityType.options,
    ...AccountActivityType.options,
  ])
    expect(findArea(kind), kind).toBeDefined()
  expect(findArea('unheard.of')).toBeUndefined()
})
