import { expect, test } from 'vitest'
import type { CheckedDomain } from '#shared/contract/domainSearch.ts'
import { formatCheckedCsv, parseNames, validateNames } from './nameList.ts'

test('names are taken from lines, commas and spaces, each once', () => {
  expect(parseNames(' A.com,\n b.io;a.com.\t c.net\r\n')).toEqual(['a.com', 'b.io', 'c.net'])
  expect(parseNames(' \n')).toEqual([])
})

test('200 names are taken, 201 are not', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.com`)
  expect(validateNames(many(200), 200)).toBeUndefined()
  expect(validateNames(many(201), 200)).toContain('At most 200')
})

test('a spreadsheet takes no cell for a formula', () => {
  const domain: CheckedDomain = {
    ...{ domain: '=cmd.com', unicode: 'a"b', available: true, status: 'available', premium: false },
    ...{ price: 10.95, currency: 'USD', warning: 'one, two' },
  }
  expect(formatCheckedCsv([domain]).split('\r\n')[1]).toBe(`'=cmd.com,"a""b",available,no,10.95,"one, two"`)
})
