import { expect, test } from 'vitest'
import { findPurchase } from './findPurchase.ts'

const headers = { 'content-type': 'application/json' }

test.each([
  ['POST', '/domains/register', { domain: 'Example.com' }, 'domain:example.com'],
  ['POST', 'http://127.0.0.1:4000/v1/domains/register', { domain: 'example.com', years: 2 }, 'domain:example.com'],
  [
    'POST',
    '/domains/example.com/renew',
    { if_expires_at: '2027-01-31T00:00:00.000Z' },
    'renewal:example.com:2027-01-31',
  ],
  ['POST', '/v1/domains/example.com/renew', { years: 1 }, undefined],
  ['GET', '/domains/register', { domain: 'example.com' }, undefined],
  ['POST', '/domains/register', { domain: 7 }, undefined],
  ['POST', '/domains/register', null, undefined],
  ['POST', '/domains/quotes', { domain: 'example.com' }, undefined],
  ['POST', '/pay/5/acct_1', undefined, undefined],
])('%s %s with %j buys %s', (method, url, body, purchase) => {
  expect(findPurchase({ method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) })).toBe(
    purchase,
  )
})

test('finds no purchase in invalid or deeply nested JSON', () => {
  for (const body of ['{', '['.repeat(100_000)]) {
    expect(findPurchase({ method: 'POST', url: '/domains/register', headers, body })).toBeUndefined()
  }
})
