import OpenAI from 'openai'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { encodeBase64 } from '../support/models/embeddingsProvider.ts'
import { modelService } from '../support/models/modelService.ts'
import type { Turn } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { exchange } from '../support/processes/runningService.ts'

/** Embeddings over the service's own port, charged to its ledger, with OpenAI's client and with plain requests. */
const { service, providers, balance, close } = await modelService()
afterAll(close)
beforeEach(() => providers.clear())

const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 })
const models = ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-v4', 'nomic-embed-text']
const small = 'text-embedding-3-small'
const embed = (body: object, { key = service.key, headers = {} }: { key?: string; headers?: object } = {}) =>
  exchange(service.url, '/v1/embeddings', {
    key,
    body: { model: small, input: 'Hello', ...body },
    headers: { ...headers },
  })
const createUsageTurn = (input: number): Turn => ({ parts: [], usage: { ...plainUsage, input } })
const createTurn = (data: unknown, usage: object = { prompt_tokens: 1_000_000 }): Turn => ({
  status: 200,
  body: { object: 'list', data, usage },
})

test.each(models)('%s: returns embeddings to the OpenAI client by default and with its options', async (model) => {
  const plain = await openai.embeddings.create({ model, input: ['one', 'two'] })
  expect(plain).toMatchObject({ object: 'list', model, usage: { cost: { currency: 'USD', estimated: false } } })
  expect(plain.data).toEqual([
    { object: 'embedding', index: 0, embedding: [0, 0.25, 0.5, 0.75] },
    { object: 'embedding', index: 1, embedding: [1, 0.25, 0.5, 0.75] },
  ])
  const floats = await openai.embeddings.create({ model, input: 'one', encoding_format: 'float', dimensions: 64 })
  expect(floats.data[0]?.embedding).toHaveLength(64)
  const base64 = await embed({ model, encoding_format: 'base64' })
  expect(base64.json.data[0].embedding).toBe(encodeBase64([0, 0.25, 0.5, 0.75]))
})

test('forwards token lists to OpenAI but rejects them for Qwen without a query', async () => {
  expect((await embed({ input: [1, 2, 3] })).json.data).toHaveLength(1)
  expect((await embed({ input: [[1, 2], [3]] })).json.data).toHaveLength(2)
  expect(providers.requests.map(({ body }) => body.input)).toEqual([
    [1, 2, 3],
    [[1, 2], [3]],
  ])
  const { status, json } = await embed({ model: 'text-embedding-v4', input: [1] })
  expect([status, json.error.param]).toEqual([400, 'input'])
  expect(providers.requests).toHaveLength(2)
})

test('forwards only known fields to the provider and lists the others in a header', async () => {
  const { status, headers } = await embed({ user: 'u', store: true, metadata: { a: 1 }, service_tier: 'priority' })
  expect(status).toBe(200)
  expect(providers.requests[0]?.body).toEqual({ model: small, input: 'Hello', encoding_format: 'base64', user: 'u' })
  expect(headers['x-steward-warnings']).toBe(
    'store ignored: not supported; metadata ignored: not supported; service_tier ignored: not supported',
  )
  expect((await embed({ file_id: 'file-1' })).status).toBe(400)
})

test.each<[string, object, string]>([
  ['no input', { input: undefined }, 'input'],
  ['null', { input: null }, 'input'],
  ['a number', { input: 7 }, 'input'],
  ['an empty text', { input: '' }, 'input'],
  ['an empty list', { input: [] }, 'input'],
  ['no tokens', { input: [[]] }, 'input[0]'],
  ['a text and an empty one', { input: ['a', ''] }, 'input[1]'],
  ['a text and a token', { input: ['a', 1] }, 'input[1]'],
  ['tokens and a text', { input: [[1], 'a'] }, 'input[1]'],
  ['half a token', { input: [1, 1.5] }, 'input[1]'],
  ['a token below 0', { input: [[1, -1]] }, 'input[0][1]'],
  ['too many texts', { input: Array(2_049).fill('a') }, 'input'],
  ['more vectors than an answer holds', { model: 'text-embedding-3-large', input: Array(200).fill('a') }, 'input'],
  ['an unknown encoding', { encoding_format: 'int8' }, 'encoding_format'],
  ['no dimensions', { dimensions: 0 }, 'dimensions'],
  ['too many dimensions', { dimensions: 1e9 }, 'dimensions'],
  ['a user that is no text', { user: {} }, 'user'],
  ['a chat model', { model: 'gpt-5.2' }, 'model'],
  ['no model', { model: '' }, 'model'],
])('%s returns 400 and names the field', async (_, body, param) => {
  const { status, json } = await embed(body)
  expect([status, json.error]).toEqual([400, expect.objectContaining({ type: 'invalid_request_error', param })])
  expect(providers.requests).toEqual([])
})

test('chat dialects return 400 for an embedding model and 404 for an unknown one', async () => {
  const messages = [{ role: 'user', content: 'Hello' }]
  for (const [path, body] of [
    ['/v1/chat/completions', { messages }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { messages, max_tokens: 9 }],
  ] as const) {
    const { status, json } = await exchange(service.url, path, { key: service.key, body: { model: small, ...body } })
    expect([status, json.error.message]).toEqual([
      400,
      '`model`: text-embedding-3-small is an embedding model: use POST /v1/embeddings.',
    ])
  }
  const unknown = await embed({ model: 'text-embedding-0' })
  expect([unknown.status, unknown.json.error.code]).toEqual([404, 'model_not_found'])
  expect(providers.requests).toEqual([])
})

test('lists the kind of every model', async () => {
  const { json } = await exchange(service.url, '/v1/models', { key: service.key })
  const ofKind = (kind: string) => json.data.filter((it: { kind: string }) => it.kind === kind)
  expect(
    ofKind('embedding')
      .map(({ id }: { id: string }) => id)
      .sort(),
  ).toEqual([...models].sort())
  expect(ofKind('chat').map(({ id }: { id: string }) => id)).toContain('shed-model')
  expect(ofKind('chat').length + ofKind('embedding').length).toBe(json.data.length)
  expect(ofKind('embedding')[0]).toMatchObject({ max_output_tokens: 0, pricing: { output_per_million: 0 } })
})

test('charges the token count of the provider, or an estimate for an impossible count', async () => {
  providers.play(createUsageTurn(800))
  const before = (await balance()).posted
  const exact = await embed({ input: 'word '.repeat(400) })
  expect(exact.json.usage).toEqual({
    ...{ prompt_tokens: 800, total_tokens: 800 },
    cost: { micro_usd: 16, currency: 'USD', price_version: '2026-11-22', estimated: false },
  })
  expect(await balance()).toEqual({ posted: before - 16, held: 0 })
  providers.play(createUsageTurn(8_193))
  expect((await embed({})).json.usage).toMatchObject({ prompt_tokens: 1, cost: { micro_usd: 1, estimated: true } })
  providers.play(createUsageTurn(0))
  expect((await embed({})).json.usage).toMatchObject({ prompt_tokens: 1, cost: { micro_usd: 1, estimated: true } })
})

test('charges at most a tenth above the hold', async () => {
  // The hold covers 21 tokens: 3 micro-dollars.
  providers.play(createUsageTurn(8_000))
  const { json } = await embed({ model: 'text-embedding-3-large' })
  expect(json.usage.cost.micro_usd).toBeLessThanOrEqual(4)
  expect((await balance()).held).toBe(0)
})

test('returns 402 without credits and restricts a key to its models', async () => {
  const poor = await embed({}, { key: secondAccount(service.dataDir).key })
  expect([poor.status, poor.json.error.type]).toEqual([402, 'insufficient_quota'])
  const key = await service.send('/v1/auth/api-keys', { body: { name: 'chat only', models: ['gpt-5.2'] } })
  expect(key.status).toBe(201)
  expect((await embed({}, { key: key.json.key })).status).toBe(403)
  expect(providers.requests).toEqual([])
})

test('returns the first response for a retry without charging again', async () => {
  const headers = { 'idempotency-key': 'embeddings' }
  const first = await embed({}, { headers })
  const { posted } = await balance()
  const second = await embed({}, { headers })
  expect([second.status, second.json, second.headers['idempotent-replayed']]).toEqual([200, first.json, 'true'])
  expect((await embed({ input: 'Other' }, { headers })).status).toBe(409)
  expect((await balance()).posted).toBe(posted)
  expect(providers.requests).toHaveLength(1)
})

const vector = { object: 'embedding', index: 0, embedding: [1, 2] }
test.each<[string, unknown]>([
  ['no list', {}],
  ['too few', []],
  ['too many', [vector, { ...vector, index: 1 }]],
  ['another index', [{ ...vector, index: 1 }]],
  ['no vector', [{ index: 0 }]],
  ['an empty vector', [{ ...vector, embedding: [] }]],
  ['texts', [{ ...vector, embedding: ['1', '2'] }]],
  ['null', [{ ...vector, embedding: [1, null] }]],
  ['numbers beyond 32 bits', [{ ...vector, embedding: [1e300] }]],
  ['no base64', [{ ...vector, embedding: '!!!!' }]],
  ['half a number', [{ ...vector, embedding: 'AAA=' }]],
  ['NaN in base64', [{ ...vector, embedding: encodeBase64([Number.NaN]) }]],
])('a response with %s returns 502', async (_, data) => {
  providers.play(createTurn(data))
  const { status, json } = await embed({})
  expect([status, json.error]).toEqual([502, expect.objectContaining({ type: 'server_error', code: 'unusable' })])
  expect((await balance()).held).toBe(0)
})

test('returns 502 for vectors of unequal lengths or lengths other than `dimensions`', async () => {
  providers.play(createTurn([vector, { ...vector, index: 1, embedding: [1] }]))
  expect((await embed({ input: ['a', 'b'] })).status).toBe(502)
  const { posted } = await balance()
  providers.play(createTurn([vector], { prompt_tokens: 40 }))
  expect((await embed({ dimensions: 3 })).status).toBe(502)
  // The provider's token count is charged.
  expect(await balance()).toEqual({ posted: posted - 1, held: 0 })
})

test('returns vectors in the order of the inputs', async () => {
  providers.play(
    createTurn([
      { ...vector, index: 1 },
      { ...vector, embedding: [3, 4] },
    ]),
  )
  const { json } = await embed({ input: ['a', 'b'] })
  expect(json.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual([
    [3, 4],
    [1, 2],
  ])
})

test('cuts off a response above 8 MB and charges its input', async () => {
  const { posted } = await balance()
  providers.play(createTurn([{ ...vector, padding: 'x'.repeat(9 * 1024 * 1024) }]))
  const { status, json } = await embed({})
  expect([status, json.error.code]).toEqual([502, 'overlong'])
  expect(await balance()).toEqual({ posted: posted - 1, held: 0 })
})

test('passes on the status of a provider refusal without charging', async () => {
  const { posted } = await balance()
  providers.play({ status: 429, headers: { 'retry-after': '31' } })
  const { status, headers } = await embed({})
  expect([status, headers['retry-after']]).toEqual([429, '31'])
  expect(await balance()).toEqual({ posted, held: 0 })
})

test('redacts the key of a provider in responses and errors', async () => {
  providers.play({ status: 400, body: { error: { message: 'Bad request with sk-openai-secret' } } })
  expect((await embed({})).text).not.toContain('sk-openai-secret')
})
