import { expect, test } from 'vitest'
import { describeIntent, findPaidAddress } from './intentHeadline.ts'
import type { IntentRecord } from './intents.ts'

const sentence = 'Pay 1.95 USDC to 0x7357…0001 on Test ledger for http://127.0.0.1:1/domains/register'
const payment = (...more: IntentRecord['fields']): Pick<IntentRecord, 'kind' | 'fields' | 'sentence'> => ({
  kind: 'x402.authorize',
  sentence,
  fields: [
    { label: 'Amount', value: '1.95 USDC', kind: 'amount' },
    { label: 'For', value: 'http://127.0.0.1:1/domains/register?x=1', kind: 'url' },
    ...more,
  ],
})

test('the headline of a payment has its amount and the requester’s purpose', () => {
  const described = payment({ label: 'Description', value: 'Register\n northwind.com for 1 year', kind: 'text' })
  expect(describeIntent(described)).toBe('Pay 1.95 USDC: “Register northwind.com for 1 year”')
  expect(describeIntent(payment())).toBe('Pay 1.95 USDC for 127.0.0.1:1/domains/register')
  const long = describeIntent(payment({ label: 'Description', value: 'x'.repeat(300), kind: 'text' }))
  expect(long).toBe(`Pay 1.95 USDC: “${'x'.repeat(119)}…”`)
})

test('uses the sentence as the headline of every other intent', () => {
  expect(describeIntent({ ...payment(), kind: 'siwe' })).toBe(sentence)
  expect(describeIntent({ ...payment(), fields: [] })).toBe(sentence)
  expect(findPaidAddress({ ...payment(), kind: 'siwe' })).toBeUndefined()
  expect(findPaidAddress(payment())).toBe('127.0.0.1:1/domains/register')
})

test('does not shorten a URL with user information or backslashes', () => {
  const paidFor = (value: string) =>
    findPaidAddress({ kind: 'x402.authorize', fields: [{ label: 'For', value, kind: 'url' }] })
  expect(paidFor('https://Shop.example:8443/a/b?c#d')).toBe('shop.example:8443/a/b')
  expect(paidFor('https://shop.example')).toBe('shop.example/')
  expect(paidFor('https://shop.example@evil.example/')).toBeUndefined()
  expect(paidFor('https://shop.example\\@evil.example/')).toBeUndefined()
  expect(paidFor('javascript:alert(1)')).toBeUndefined()
})

test('replaces quotation marks in a purpose', () => {
  const described = payment({ label: 'Description', value: 'a refund” to you. “"Safe"', kind: 'text' })
  expect(describeIntent(described)).toBe('Pay 1.95 USDC: “a refund’ to you. ’’Safe’”')
})
