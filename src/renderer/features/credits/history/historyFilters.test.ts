import { expect, test } from 'vitest'
import { isFilteredHistory, noHistoryFilters, toHistoryQuery } from './historyFilters.ts'

const now = Date.UTC(2026, 10, 22, 15)
const query = (filters: Partial<typeof noHistoryFilters>) => toHistoryQuery({ ...noHistoryFilters, ...filters }, now)

test('sends an empty query without filters', () => {
  expect(query({ text: '  ' })).toEqual({})
  expect(isFilteredHistory(query({}))).toBe(false)
})

test('sends each filter under its own name', () => {
  expect(query({ text: ' opus ', type: 'inference', model: 'gpt-5.2', key: 'key_1' })).toEqual({
    ...{ text: 'opus', type: 'inference', model: 'gpt-5.2', key: 'key_1' },
  })
})

test('filters by UTC days and includes the last day', () => {
  expect(query({ period: 'today' })).toEqual({ from: '2026-11-22T00:00:00.000Z' })
  expect(query({ period: 'week' })).toEqual({ from: '2026-11-16T00:00:00.000Z' })
  expect(query({ period: 'between', from: '2026-03-01', to: '2026-03-01' })).toEqual({
    ...{ from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' },
  })
  expect(query({ period: 'between', from: '', to: 'no day' })).toEqual({})
})
