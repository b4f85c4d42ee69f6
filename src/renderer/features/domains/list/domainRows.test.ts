import { expect, test } from 'vitest'
import type { Domain } from '#shared/contract/domains.ts'
import { buildDomainRows, getExpiryMark } from './domainRows.ts'

const nowMs = Date.parse('2026-01-01T00:00:00.000Z')
const domain = (name: string, expires: string, locked = true) =>
  ({ domain: name, unicode: name, status: 'active', expires_at: `${expires}T00:00:00.000Z`, locked }) as Domain
const all = [domain('b.com', '2026-01-05'), domain('a.com', '2027-01-01', false), domain('shop.io', '2026-06-01')]
const names = (options: Partial<Parameters<typeof buildDomainRows>[1]>) =>
  buildDomainRows(all, { search: '', filter: 'all', sort: 'name', nowMs, ...options }).map((it) => it.domain)

test('are sorted by name or by expiry', () => {
  expect(names({})).toEqual(['a.com', 'b.com', 'shop.io'])
  expect(names({ sort: 'expiry' })).toEqual(['b.com', 'shop.io', 'a.com'])
})

test('are filtered by search text, expiry and lock', () => {
  expect(names({ search: ' SHOP' })).toEqual(['shop.io'])
  expect(names({ filter: 'expiring' })).toEqual(['b.com'])
  expect(names({ filter: 'unlocked' })).toEqual(['a.com'])
})

test('marks expiry a month ahead and escalates in the last week', () => {
  const mark = (expires: string) => getExpiryMark(domain('a.com', expires), nowMs)
  expect(mark('2026-02-01')).toBeUndefined()
  expect(mark('2026-01-21')).toEqual({ tone: 'caution', text: '20 days' })
  expect(mark('2026-01-02')).toEqual({ tone: 'negative', text: '1 day' })
  expect(mark('2026-01-01')).toEqual({ tone: 'negative', text: 'Expired' })
})
