import { expect, test } from 'vitest'
import { isFilteredHistory, noHistoryFilters, toHistoryQuery } from './historyFilters.ts'

const now = Date.UTC(2026, 10, 22, 15)
const query = (filters: Partial<typeof noHistoryFilters>) => toHistoryQuery({ ...noHistoryFilters, ...filters }, now)

test('without filters all of it is asked for', () => {
  expect(query({ text: '  ' })).toEqual({})
  expect(isFilteredHistory(query({}))).toBe(false)
})

test('each filter is asked for by its name', () => {
  expect(query({ text: ' opus ', type: 'inference', model: 'gpt-5.2', key: 'key_1' })).toEqual({
    ...{ text: 'opus', type: 'inference', model: 'gpt-5.2', key: 'key_1' },
  })
})

test('days are those of UTC, and the last one is included', () => {
  expect(query({ period: 'today' })).toEqual({ from: '2026-11-22T00:00:00.000Z' })
  expect(query({ period: 'week' })).toEqual({ from: '2026-11-16T00:00:00.000Z' })
  expect(query({ period: 'between', from: '2026-03-01', to: '2026-03-01' })).toEqual({
    ...{ from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' },
  })
  expect(query({ period: 'between', from: '', to: 'no day' })).toEqual({})
})
