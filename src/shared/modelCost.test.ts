import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  computeAffordableOutputTokens,
  computeMaxModelCost,
  computeModelCacheSavings,
  computeModelCost,
  type ModelPriceTier,
} from './modelCost.ts'

/** Model whose prices rise unevenly between tiers. */
const tiers: ModelPriceTier[] = [
  {
    above_input_tokens: 0,
    input_per_million: 3,
    output_per_million: 15,
    cache_read_per_million: 0.3,
    cache_write_5m_per_million: 3.75,
    cache_write_1h_per_million: 6,
  },
  {
    above_input_tokens: 200_000,
    input_per_million: 6,
    output_per_million: 22.5,
    cache_read_per_million: 0.6,
    cache_write_5m_per_million: 9,
    cache_write_1h_per_million: 12,
  },
]
const none = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 }

test('prices cache writes per tier', () => {
  expect(computeMaxModelCost(tiers, { input: 300_000, output: 1_000, cache: '5m' })).toBe(2_722_500)
  expect(computeModelCost(tiers, { ...none, cacheWrite5m: 200_001 })).toBe(1_800_009)
  expect(computeModelCacheSavings(tiers, { ...none, cacheRead: 1_000 })).toBe(2_700)
})

const price = fc.integer({ min: 0, max: 100_000_000 }).map((it) => it / 1_000_000)
const anyTiers = fc
  .array(
    fc.record({
      above_input_tokens: fc.integer({ min: 1, max: 400_000 }),
      input_per_million: price,
      output_per_million: price,
      cache_read_per_million: price,
      cache_write_5m_per_million: price,
      cache_write_1h_per_million: price,
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => {
    const sorted = list.toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
    return sorted.map((tier, index) => (index === 0 ? { ...tier, above_input_tokens: 0 } : tier))
  })

test('never exceeds the maximum cost of a request for any valid prices', () => {
  const part = fc.nat(200_000)
  const tokens = fc.record({
    input: part,
    cacheRead: part,
    cacheWrite5m: part,
    cacheWrite1h: fc.constant(0),
    output: part,
  })
  fc.assert(
    fc.property(anyTiers, tokens, fc.nat(1_000), (any, used, extra) => {
      const input = used.input + used.cacheRead + used.cacheWrite5m + extra
      const max = computeMaxModelCost(any, { input, output: used.output, cache: '5m' })
      expect(computeModelCost(any, used)).toBeLessThanOrEqual(max)
    }),
  )
})

test('computes the largest output that fits the budget', () => {
  fc.assert(
    fc.property(anyTiers, fc.nat(300_000), fc.integer({ min: 1, max: 5_000_000 }), (any, input, budget) => {
      const max = { input, output: 10_000, cache: undefined }
      const output = computeAffordableOutputTokens(any, max, budget)
      if (output > 0) expect(computeMaxModelCost(any, { ...max, output })).toBeLessThanOrEqual(budget)
      if (output < max.output) expect(computeMaxModelCost(any, { ...max, output: output + 1 })).toBeGreaterThan(budget)
    }),
  )
})
