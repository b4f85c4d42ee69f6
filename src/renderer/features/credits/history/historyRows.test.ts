import { expect, test } from 'vitest'
import type { CreditTransaction } from '#shared/contract/credits.ts'
import { type HistoryPage, indexRows } from './historyRows.ts'

const transaction = (id: string): CreditTransaction => ({
  ...{ id, type: 'grant', amount_cents: 1, description: '', balance_after_cents: 1 },
  created_at: '2026-11-01T00:00:00.000Z',
})
const page = (ids: string, offset: number, total: number): HistoryPage => ({
  ...{ transactions: [...ids].map(transaction), offset, total, limit: 2 },
})
const listPlaces = (pages: HistoryPage[], total: number) =>
  [...indexRows(pages, total)].map(([index, { id }]) => `${index}${id}`).join(' ')

test('places pages at their offsets', () => {
  expect(listPlaces([page('fe', 0, 6), page('ba', 4, 6)], 6)).toBe('0f 1e 4b 5a')
})

test('shifts a page of a shorter history by later entries without duplicates', () => {
  expect(listPlaces([page('gf', 0, 7), page('dc', 2, 6)], 7)).toBe('0g 1f 3d 4c')
  expect(listPlaces([page('gf', 0, 7), page('fe', 0, 6)], 7)).toBe('0g 1f 2e')
})
