import { afterAll, beforeEach, expect, test } from 'vitest'
import { type ModelRequest, modelBody, modelPaths, modelService } from '../support/models/modelService.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { exchange } from '../support/processes/runningService.ts'

/** A client that lost the response retries its request and is charged once. */
const { service, providers, balance, close } = await modelService()
afterAll(close)
beforeEach(() => providers.clear())

const ask = (modelRequest: ModelRequest, idempotencyKey: string) =>
  exchange(service.url, modelPaths[modelRequest.dialect], {
    key: service.key,
    body: modelBody(modelRequest),
    headers: { 'idempotency-key': idempotencyKey },
  })
const dialects = ['chat', 'responses', 'messages'] as const

test.each(dialects)('%s: returns the first response for a retry without charging again', async (dialect) => {
  const modelRequest = { dialect, model: 'gpt-5.2' }
  const first = await ask(modelRequest, `json ${dialect}`)
  const { posted } = await balance()
  const second = await ask(modelRequest, `json ${dialect}`)
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.json).toEqual(first.json)
  expect(second.headers['idempotent-replayed']).toBe('true')
  expect(providers.requests).toHaveLength(1)
  expect((await balance()).posted).toBe(posted)
})

test.each(dialects)('%s: a repeated stream returns 409 in its dialect without a provider query', async (dialect) => {
  const modelRequest = { dialect, model: 'claude-sonnet-4.5', stream: true }
  const first = await ask(modelRequest, `stream ${dialect}`)
  expect(first.text.slice(0, 300)).toContain('data: ')
  expect(first.text).toContain('Hello')
  const second = await ask(modelRequest, `stream ${dialect}`)
  expect([second.status, second.json.error.code]).toEqual([409, 'request/unrepeatable'])
  expect(second.json.error.message).toContain('streamed')
  expect(providers.requests).toHaveLength(1)
})

test('returns 409 for another body and 400 for a key that is too long', async () => {
  await ask({ dialect: 'chat', model: 'gpt-5.2' }, 'other')
  const otherResponse = await ask({ dialect: 'chat', model: 'gpt-5-mini' }, 'other')
  expect([otherResponse.status, otherResponse.json.error.code]).toEqual([409, 'request/reused-key'])
  expect((await ask({ dialect: 'chat', model: 'gpt-5.2' }, 'x'.repeat(200))).status).toBe(400)
  expect(providers.requests).toHaveLength(1)
})

test('does not store a provider refusal, so a retry works', async () => {
  providers.play({ status: 429 })
  expect((await ask({ dialect: 'chat', model: 'gpt-5.2' }, 'again')).status).toBe(429)
  expect((await ask({ dialect: 'chat', model: 'gpt-5.2' }, 'again')).status).toBe(200)
})

test('sends a response too long to store only once', async () => {
  providers.play({ parts: [{ text: 'x'.repeat(1_100_000) }], usage: plainUsage })
  const modelRequest = { dialect: 'chat', model: 'gpt-5.2' } as const
  const long = await ask(modelRequest, 'long')
  expect([long.status, long.text.slice(0, 200)]).toEqual([200, expect.stringContaining('chatcmpl')])
  expect((await ask(modelRequest, 'long')).status).toBe(409)
})

test('creates one quote for each key', async () => {
  const quote = (body: object) =>
    exchange(service.url, '/domains/quotes', { key: service.key, body, headers: { 'idempotency-key': 'quote' } })
  const first = await quote({ domain: 'quoted-once.com' })
  expect(first.status).toBe(201)
  expect((await quote({ domain: 'quoted-once.com' })).json).toEqual(first.json)
  expect((await quote({ domain: 'quoted-twice.com' })).status).toBe(409)
})
