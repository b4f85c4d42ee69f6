import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalogueFile } from '#test/support/models/gatewayWorld.ts'
import { createModelCatalogue, toLocalModel } from './modelCatalogue.ts'

const content = () => JSON.parse(readFileSync(catalogueFile, 'utf8'))
const expectRefusal = (message: RegExp) =>
  expect.objectContaining({ code: 'config/invalid', message: expect.stringMatching(message) })

test('lists every documented model under its provider', () => {
  const { models } = createModelCatalogue(content())
  const names = [...models.values()].map((model) => `${model.providerId} ${model.name}`)
  expect(names).toEqual([
    'a gpt-5.2',
    'a gpt-5.2-codex',
    'a gpt-5-mini',
    'a gpt-5-nano',
    'b claude-opus-4.6',
    'b claude-opus-4.5',
    'b claude-sonnet-4.5',
    'b claude-haiku-4.5',
    'c gemini-2.5-pro',
    'c gemini-2.5-flash',
    'c gemini-3-pro',
    'c gemini-3-flash',
    'd kimi-k2.5',
    'e qwen3-coder',
    'a text-embedding-3-small',
    'a text-embedding-3-large',
    'e text-embedding-v4',
  ])
})

test('contains the date on which prices were read', () => {
  expect(content().prices_read_on).toMatch(/^\d{4}-\d{2}-\d{2}$/)
})

test('applies configured models and marks the price version', () => {
  const prices = [{ above_input_tokens: 0, input: 9, output: 9 }]
  const { models } = createModelCatalogue(content(), {
    a: [
      { name: 'gpt-5.2', prices },
      { name: 'gpt-own', prices, upstream_id: 'gpt-x' },
    ],
  })
  expect(models.get('gpt-5.2')).toMatchObject({
    tiers: [{ above_input_tokens: 0, input_per_million: 9, output_per_million: 9, cache_write_1h_per_million: 9 }],
    upstreamId: 'gpt-5.2',
    contextWindow: 400_000,
    priceVersion: '2026-11-22+configured',
  })
  expect(models.get('gpt-own')).toMatchObject({
    providerId: 'a',
    kind: 'openai',
    upstreamId: 'gpt-x',
    contextWindow: 128_000,
  })
  expect(models.get('gpt-5-mini')?.priceVersion).toBe('2026-11-22')
})

test('requires prices for a configured model of a cloud provider', () => {
  expect(() => createModelCatalogue(content(), { b: [{ name: 'claude-own' }] })).toThrow(
    expectRefusal(/claude-own needs `prices`/),
  )
})

test('treats a local model without prices as free', () => {
  expect(toLocalModel('shed', { name: 'llama' })).toMatchObject({
    providerId: 'local:shed',
    kind: 'local',
    priceVersion: 'free',
  })
})

test.each([
  ['an unknown field', (it: ReturnType<typeof content>) => Object.assign(it.models[0], { pricing: [] })],
  ['a negative price', (it: ReturnType<typeof content>) => Object.assign(it.models[0].prices[0], { input: -1 })],
  [
    'a price of too many digits',
    (it: ReturnType<typeof content>) => Object.assign(it.models[0].prices[0], { input: 0.000_000_1 }),
  ],
  ['tiers out of order', (it: ReturnType<typeof content>) => void it.models[8].prices.reverse()],
  ['no price', (it: ReturnType<typeof content>) => Object.assign(it.models[0], { prices: [] })],
])('%s prevents the start', (_, spoil) => {
  const spoilt = content()
  spoil(spoilt)
  expect(() => createModelCatalogue(spoilt)).toThrow(expectRefusal(/The model catalogue is not valid/))
})

test('detects embedding models and classifies models of a local server by name', () => {
  const { models } = createModelCatalogue(content())
  expect(models.get('text-embedding-3-large')).toMatchObject({
    modelKind: 'embedding',
    dimensions: 3_072,
    maxOutputTokens: 0,
  })
  expect(models.get('gpt-5.2')).toMatchObject({ modelKind: 'chat', dimensions: undefined })
  const readKind = (name: string) => toLocalModel('shed', { name }).modelKind
  const embedding = ['nomic-embed-text:latest', 'text-embedding-qwen3', 'all-minilm:33m', 'bge-m3', 'intfloat/e5-large']
  expect(embedding.filter((name) => readKind(name) !== 'embedding')).toEqual([])
  const chat = ['llama3.2:3b', 'qwen/qwen3-8b', 'gemma3', 'phi4', 'deepseek-r1:14b', 'gpt-oss:20b', 'SmolLM2-135M']
  expect(chat.filter((name) => readKind(name) !== 'chat')).toEqual([])
  expect(toLocalModel('shed', { name: 'embedder', kind: 'chat' }).modelKind).toBe('chat')
})

test('rejects embedding models for a provider with a different embeddings API', () => {
  const prices = [{ above_input_tokens: 0, input: 1, output: 0 }]
  const ownModel = { name: 'own-embedding', kind: 'embedding' as const, prices }
  expect(createModelCatalogue(content(), { e: [ownModel] }).models.get('own-embedding')?.modelKind).toBe('embedding')
  expect(() => createModelCatalogue(content(), { c: [ownModel] })).toThrow(
    expectRefusal(/own-embedding cannot be an embedding model/),
  )
})
