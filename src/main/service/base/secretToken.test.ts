import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretTokens, hashSecret } from './secretToken.ts'

const tokens = createSecretTokens('stl')

test('accepts only the complete token', () => {
  const token = tokens.create(randomBytes)
  expect(token).toMatch(/^stl_[A-Za-z0-9_-]{43}$/)
  const record = { hash: hashSecret(token), name: 'kept' }
  const find = (hash: Buffer) => (hash.equals(record.hash) ? record : undefined)
  expect(tokens.holder(token, find)).toBe(record)
  expect(tokens.holder(tokens.create(randomBytes), find)).toBeUndefined()
  expect(tokens.holder(tokens.create(randomBytes), () => record)).toBeUndefined()
})

test.each([
  '',
  'stl_',
  `srt_${'a'.repeat(43)}`,
  `stl_${'a'.repeat(42)}`,
  `stl_${'a'.repeat(43)}\n`,
  `x stl_${'a'.repeat(43)}`,
])('does not look up the malformed token %j', (text) => {
  const find = () => {
    throw new Error('looked for')
  }
  expect(tokens.holder(text, find)).toBeUndefined()
})
