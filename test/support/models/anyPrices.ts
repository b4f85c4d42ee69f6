import fc from 'fast-check'
import type { ConfiguredModel } from '#shared/modelFields.ts'

const price = fc.integer({ min: 0, max: 100_000_000 }).map((it) => it / 1_000_000)

/** Prices that a user may configure for a custom model. */
export const anyPrices: fc.Arbitrary<NonNullable<ConfiguredModel['prices']>> = fc
  .uniqueArray(
    fc.record(
      {
        above_input_tokens: fc.integer({ min: 0, max: 400_000 }),
        input: price,
        output: price,
        cache_read: price,
        cache_write_5m: price,
        cache_write_1h: price,
      },
      { requiredKeys: ['above_input_tokens', 'input', 'output'] },
    ),
    { minLength: 1, maxLength: 4, selector: (it) => it.above_input_tokens },
  )
  .map((tiers) => {
    const sorted = tiers.toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
    return sorted.map((tier, index) => (index === 0 ? { ...tier, above_input_tokens: 0 } : tier))
  })
