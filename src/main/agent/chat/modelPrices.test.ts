import { expect, test } from 'vitest'
import type { ListedModel } from '../../../shared/contract/inference.ts'
import { affordableOutput, asksForCache, costOf, savedByCache, worstCost } from './modelPrices.ts'

const priced = (pricing: Partial<ListedModel['pricing']>): ListedModel => ({
  id: 'm',
  object: 'model',
  type: 'model',
  display_name: 'm',
  created: 0,
  created_at: '',
  owned_by: 'x',
  provider: 'x',
  available: true,
  context_window: 200_000,
  max_output_tokens: 10_000,
  images: true,
  reasoning: false,
  pricing: {
    input_per_million: 3,
    output_per_million: 15,
    cache_read_per_million: 0.3,
    cache_write_5m_per_million: 3.75,
    cache_write_1h_per_million: 6,
    tiers: [
      { above_input_tokens: 0, input_per_million: 3, output_per_million: 15, cache_read_per_million: 0.3 },
      { above_input_tokens: 1_000, input_per_million: 6, output_per_million: 22.5, cache_read_per_million: 0.6 },
    ],
    price_version: 'v',
    ...pricing,
  },
})
const model = priced({})
const used = { input: 1_000, cached: 0, cacheWritten: 0, output: 0 }

test('counts whole micro-dollars, rounded up, by the tier of the input', () => {
  expect(costOf(model, used)).toBe(3_000)
  expect(costOf(model, { ...used, cached: 400, cacheWritten: 100, output: 1 })).toBe(500 * 3 + 120 + 375 + 15)
  expect(costOf(model, { ...used, input: 1_001 })).toBe(6_006)
  expect(costOf(priced({ tiers: [], input_per_million: 0.1 }), { ...used, input: 3 })).toBe(1)
})

test('cached tokens save, and writing them costs more', () => {
  expect(savedByCache(model, { ...used, cached: 400 })).toBe(1_080)
  expect(savedByCache(model, { ...used, cacheWritten: 400 })).toBe(-300)
})

test('the worst case is no less than any way to count it', () => {
  expect(asksForCache(model)).toBe(true)
  for (const input of [1, 999, 1_000, 1_001, 5_000]) {
    for (const [cached, cacheWritten] of [
      [0, 0],
      [input, 0],
      [0, input],
    ] as const) {
      expect(worstCost(model, { input, output: 77 })).toBeGreaterThanOrEqual(
        costOf(model, { input, cached, cacheWritten, output: 77 }),
      )
    }
  }
})

test('an amount pays for as much output as it covers, and no token more', () => {
  const input = 500
  const most = affordableOutput(model, { input, output: 10_000 }, 5_000)
  expect(worstCost(model, { input, output: most })).toBeLessThanOrEqual(5_000)
  expect(worstCost(model, { input, output: most + 1 })).toBeGreaterThan(5_000)
  expect(affordableOutput(model, { input, output: 10 }, Number.POSITIVE_INFINITY)).toBe(10)
  expect(affordableOutput(model, { input, output: 10 }, 0)).toBe(0)
})
