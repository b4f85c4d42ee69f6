import { expect, test } from 'vitest'
import type { CheckedDomain } from '#shared/contract/domainSearch.ts'
import { formatCheckedCsv, parseNames, validateNames } from './nameList.ts'

test('parses names from lines, commas and spaces without duplicates', () => {
  expect(parseNames(' A.com,\n b.io;a.com.\t c.net\r\n')).toEqual(['a.com', 'b.io', 'c.net'])
  expect(parseNames(' \n')).toEqual([])
})

test('accepts 200 names and rejects 201', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.com`)
  expect(validateNames(many(200), 200)).toBeUndefined()
  expect(validateNames(many(201), 200)).toContain('At most 200')
})

test('escapes formulas in the CSV export of checked domains', () => {
  const domain: CheckedDomain = {
    ...{ domain: '=cmd.com', unicode: 'a"b', available: true, status: 'available', premium: false },
    ...{ price: 10.95, currency: 'USD', warning: 'one, two' },
  }
  expect(formatCheckedCsv([domain]).split('\r\n')[1]).toBe(`'=cmd.com,"a""b",available,no,10.95,"one, two"`)
})
