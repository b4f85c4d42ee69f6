import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeCost, computeWorstCost, isCacheBilled } from '#agent/chat/modelPrices.ts'
import { createListedModels } from '#service/inference/catalogue/listedModels.ts'
import { toLocalModel } from '#service/inference/catalogue/modelCatalogue.ts'
import { computeMaxModelCost } from '#shared/modelCost.ts'
import type { ConfiguredModel } from '#shared/modelFields.ts'
import { anyPrices } from '../support/models/anyPrices.ts'

/** Converts the model as the agent reads it from the service's list. */
function list(prices: NonNullable<ConfiguredModel['prices']>) {
  const model = toLocalModel('shed', { name: 'm', prices })
  const [listed] = createListedModels({ models: () => [model], isAvailable: () => true })().data
  if (!listed) throw new Error('The model is not listed.')
  return { model, listed }
}

test('the agent reservation covers the service hold for any valid prices', () => {
  fc.assert(
    fc.property(
      anyPrices,
      fc.nat(500_000),
      fc.nat(50_000),
      fc.constantFrom(undefined, '5m' as const),
      (prices, input, output, cache) => {
        const { model, listed } = list(prices)
        expect(computeWorstCost(listed, { input, output })).toBeGreaterThanOrEqual(
          computeMaxModelCost(model.tiers, { input, output, cache }),
        )
      },
    ),
  )
})

test('includes cache reads and writes in the input', () => {
  const prices = [{ above_input_tokens: 0, input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75 }]
  const { listed } = list(prices)
  expect(isCacheBilled(listed)).toBe(true)
  expect(computeCost(listed, { input: 1_000, cached: 400, cacheWritten: 100, output: 1 })).toBe(
    500 * 3 + 120 + 375 + 15,
  )
})
