import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  computeAffordableOutputTokens,
  computeMaxModelCost,
  computeModelCacheSavings,
  computeModelCost,
} from '#shared/modelCost.ts'
import { catalogueFile } from '#test/support/models/gatewayWorld.ts'
import { sumInput, type Usage } from '../canonical/canonical.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { createModelCatalogue } from '../catalogue/modelCatalogue.ts'
import { planHold } from './reservationPlan.ts'

const { models } = createModelCatalogue(JSON.parse(readFileSync(catalogueFile, 'utf8')))
const requireModel = (name: string): CatalogueModel => models.get(name)!
const createUsage = (fields: Partial<Usage>): Usage => ({
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  ...fields,
})

test('rounds a charge up once to whole micro-dollars', () => {
  // 1.75 + 0.175 + 14 micro-dollars
  expect(computeModelCost(requireModel('gpt-5.2').tiers, createUsage({ input: 1, cacheRead: 1, output: 1 }))).toBe(16)
  expect(computeModelCost(requireModel('gpt-5-nano').tiers, createUsage({ input: 1 }))).toBe(1)
  expect(computeModelCost(requireModel('gpt-5-nano').tiers, createUsage({ cacheRead: 200 }))).toBe(1)
})

test('selects the price tier by total input and applies it to all tokens', () => {
  const flat = computeModelCost(requireModel('gemini-3-pro').tiers, createUsage({ input: 200_000, output: 1_000 }))
  expect(flat).toBe(400_000 + 12_000)
  const above = computeModelCost(
    requireModel('gemini-3-pro').tiers,
    createUsage({ input: 100_000, cacheRead: 100_001, output: 1_000 }),
  )
  expect(above).toBe(400_000 + Math.ceil(100_001 * 0.4) + 18_000)
})

test('computes cache savings against the price of fresh tokens', () => {
  expect(computeModelCacheSavings(requireModel('claude-opus-4.6').tiers, createUsage({ cacheRead: 1_000_000 }))).toBe(
    4_500_000,
  )
  expect(
    computeModelCacheSavings(requireModel('claude-opus-4.6').tiers, createUsage({ cacheWrite5m: 1_000_000 })),
  ).toBe(-1_250_000)
})

const anyModel = fc.constantFrom(...models.values())
const anyUsage = fc.record({
  input: fc.nat(400_000),
  cacheRead: fc.nat(100_000),
  cacheWrite5m: fc.nat(10_000),
  cacheWrite1h: fc.nat(10_000),
  output: fc.nat(100_000),
  reasoning: fc.constant(0),
})

test('never charges more than the worst-case cost', () => {
  fc.assert(
    fc.property(anyModel, anyUsage, fc.nat(1_000), (model, usage, spare) => {
      const tokens = { input: sumInput(usage) + spare, output: usage.output, cache: '1h' as const }
      expect(computeModelCost(model.tiers, usage)).toBeLessThanOrEqual(computeMaxModelCost(model.tiers, tokens))
    }),
  )
})

test('spends the budget on as many output tokens as it covers', () => {
  fc.assert(
    fc.property(anyModel, fc.nat(300_000), fc.integer({ min: 1, max: 5_000_000 }), (model, input, budget) => {
      const tokens = { input, output: model.maxOutputTokens, cache: undefined }
      const output = computeAffordableOutputTokens(model.tiers, tokens, budget)
      if (output > 0) expect(computeMaxModelCost(model.tiers, { ...tokens, output })).toBeLessThanOrEqual(budget)
      if (output < tokens.output)
        expect(computeMaxModelCost(model.tiers, { ...tokens, output: output + 1 })).toBeGreaterThan(budget)
    }),
  )
})

test('clamps max_tokens to the balance', () => {
  const plan = planHold(
    requireModel('claude-sonnet-4.5'),
    { input: 1_000, requested: 50_000, cache: undefined },
    100_000,
  )
  // $0.10 minus $0.003 for input, at $15 per million tokens
  expect(plan).toEqual({ maxOutputTokens: 6_466, amountMicroUsd: 99_990 })
})

test('defaults max_tokens to 16,384 capped by the model and a quarter of the balance', () => {
  const plan = (name: string, available: number) =>
    planHold(requireModel(name), { input: 100, requested: undefined, cache: undefined }, available)?.maxOutputTokens
  expect(plan('gpt-5.2', 100_000_000)).toBe(16_384)
  expect(
    planHold(
      { ...requireModel('gpt-5.2'), maxOutputTokens: 4_000 },
      { input: 1, requested: undefined, cache: undefined },
      1e9,
    ),
  ).toMatchObject({ maxOutputTokens: 4_000 })
  expect(plan('gpt-5.2', 100_000)).toBe(Math.floor(25_000 / 14))
})

test('holds nothing if the balance covers no output token', () => {
  expect(
    planHold(requireModel('gpt-5.2'), { input: 100_000, requested: 10, cache: undefined }, 100_000),
  ).toBeUndefined()
})
