import { expect, test } from 'vitest'
import type { SpendingGroup } from '#shared/contract/credits.ts'
import { buildDailySeries, computeScale, listDaysUntil } from './dailySeries.ts'

const group = (day: string, model: string | null, spent_cents: number): SpendingGroup => ({
  ...{ day, model, spent_cents, key_id: null, requests: model === null ? 0 : 1 },
  ...{ inference_cents: 0, sandboxes_cents: 0, refunds_cents: 0, sent_cents: 0, received_cents: 0 },
})
const range = { from: '2026-02-27', to: '2026-03-01' }

test('shows a bar for every day and sorts series by cost', () => {
  const { days, series } = buildDailySeries(
    [
      group('2026-02-27', 'a', 3),
      group('2026-02-27', 'b', 4),
      group('2026-03-01', 'a', 5),
      group('2026-03-01', null, 1),
    ],
    range,
  )
  expect(series.map(({ name, cents, requests, color }) => [name, cents, requests, color])).toEqual([
    ['a', 8, 2, 1],
    ['b', 4, 1, 2],
    ['Sandboxes', 1, 0, 3],
  ])
  expect(days.map(({ day, cents, requests, parts }) => [day, cents, requests, parts.length])).toEqual([
    ['2026-02-27', 7, 2, 2],
    ['2026-02-28', 0, 0, 0],
    ['2026-03-01', 6, 1, 2],
  ])
})

test('uses one color for all series beyond five', () => {
  const { series } = buildDailySeries(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((model, place) => group('2026-03-01', model, 10 - place)),
    range,
  )
  expect(series.map(({ color }) => color)).toEqual([1, 2, 3, 4, 5, 'other', 'other'])
})

test('shows no series and no negative bar for refunds without charges', () => {
  const { days, series } = buildDailySeries([group('2026-03-01', 'a', -6)], range)
  expect(series).toEqual([])
  expect(days.at(-1)).toMatchObject({ cents: -6, parts: [] })
  expect(computeScale(days)).toEqual({ top: 1, lines: [] })
})

test('ends the scale at a round amount', () => {
  const top = (spent: number) => computeScale(buildDailySeries([group('2026-03-01', 'a', spent)], range).days).top
  expect([3.2, 41, 57, 1000].map(top)).toEqual([4, 50, 60, 1000])
})

test('ends a period today in UTC, including over a leap day', () => {
  expect(listDaysUntil(Date.UTC(2028, 2, 1, 23, 59), '7')).toEqual({ from: '2028-02-24', to: '2028-03-01' })
})
