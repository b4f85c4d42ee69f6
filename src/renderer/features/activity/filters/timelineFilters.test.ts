import { expect, test } from 'vitest'
import { AccountActivityType, ActivityType } from '#shared/contract/activity.ts'
import { listTimeline } from '#shared/contract/timeline.ts'
import { areaOf, isFiltered, noFilters, queryOf } from './timelineFilters.ts'

const now = new Date(2026, 2, 10, 15, 30)
const iso = (...day: [number, number, number]) => new Date(...day).toISOString()

test('asks for nothing in particular at first', () => {
  expect(queryOf(noFilters, now)).toEqual({})
  expect(isFiltered(queryOf({ ...noFilters, search: '  ' }, now))).toBe(false)
})

test('asks for words, the kinds of an area and an actor, as the contract takes them', () => {
  const query = queryOf({ ...noFilters, search: ' sign in ', area: 'approvals', actor: 'client', period: 'today' }, now)
  expect(query).toEqual({
    search: 'sign in',
    kinds: 'intent,grant,policy,stop',
    actor: 'client',
    from: iso(2026, 2, 10),
  })
  expect(listTimeline.query.safeParse(query).success).toBe(true)
  expect(isFiltered(query)).toBe(true)
})

test('counts whole days of this machine, the present one among them', () => {
  expect(queryOf({ ...noFilters, period: 'week' }, now)).toEqual({ from: iso(2026, 2, 4) })
  expect(queryOf({ ...noFilters, period: 'month' }, now)).toEqual({ from: iso(2026, 1, 9) })
})

test('takes both days of a range, or one', () => {
  const between = { ...noFilters, period: 'between' } as const
  expect(queryOf({ ...between, from: '2026-02-27', to: '2026-02-28' }, now)).toEqual({
    from: iso(2026, 1, 27),
    to: iso(2026, 2, 1),
  })
  expect(queryOf({ ...between, to: '2026-12-31' }, now)).toEqual({ to: iso(2027, 0, 1) })
  expect(queryOf({ ...between, from: 'soon' }, now)).toEqual({})
})

test('every kind that a service notes has an area', () => {
  for (const kind of [
    'chat.asked',
    'log.cut',
    'payment.settled',
    ...ActivityType.options,
    ...AccountActivityType.options,
  ])
    expect(areaOf(kind), kind).toBeDefined()
  expect(areaOf('unheard.of')).toBeUndefined()
})
