import { countTokens as countAllTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { countTokens } from './tokenCount.ts'

test.each([
  '',
  'one',
  'A sentence of words, 12 345 numbers and “quotes”.',
  '{"a":[1,2,{"b":null}]}',
  '日本語のテキスト\n\n\tx',
])('counts %j like the tokenizer', async (text) => {
  expect(await countTokens(text)).toBe(countAllTokens(text))
})

test('counts a long text of words like the tokenizer', async () => {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(8_000)
  expect(await countTokens(text)).toBe(countAllTokens(text))
})

// Counting any of these in one pass would block the service for minutes.
test.each(['x', ' ', '\n', '=', 'ab', '字', '🙂', `${'.'.repeat(496)}1234`])(
  'yields to the event loop while counting a megabyte of %j',
  async (piece) => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    try {
      const text = piece.repeat(1_000_000 / piece.length)
      const count = await countTokens(text)
      expect(count).toBeGreaterThan(0)
      expect(count).toBeLessThanOrEqual(Buffer.byteLength(text))
      expect(turns).toBeGreaterThan(3)
    } finally {
      clearInterval(timer)
    }
  },
)
