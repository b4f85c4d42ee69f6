import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashOfSecret, secretTokens } from './secretToken.ts'

const tokens = secretTokens('stl')

test('only whoever has the whole token is its holder', () => {
  const token = tokens.create(randomBytes)
  expect(token).toMatch(/^stl_[A-Za-z0-9_-]{43}$/)
  const kept = { hash: hashOfSecret(token), name: 'kept' }
  const find = (hash: Buffer) => (hash.equals(kept.hash) ? kept : undefined)
  expect(tokens.holder(token, find)).toBe(kept)
  expect(tokens.holder(tokens.create(randomBytes), find)).toBeUndefined()
  expect(tokens.holder(tokens.create(randomBytes), () => kept)).toBeUndefined()
})

test.each([
  '',
  'stl_',
  `srt_${'a'.repeat(43)}`,
  `stl_${'a'.repeat(42)}`,
  `stl_${'a'.repeat(43)}\n`,
  `x stl_${'a'.repeat(43)}`,
])('nobody is looked for under %j', (text) => {
  const find = () => {
    throw new Error('looked for')
  }
  expect(tokens.holder(text, find)).toBeUndefined()
})
