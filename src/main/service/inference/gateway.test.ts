import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createGatewayWorld, dialects } from '#test/support/models/gatewayWorld.ts'
import { chatFrames, messagesFrames, plainUsage } from '#test/support/models/scriptedAnswer.ts'
import { getMaxInputTokens } from './billing/tokenEstimate.ts'

const world = await createGatewayWorld()
afterAll(() => world.close())
beforeEach(() => world.clear())

const chat = { dialect: 'chat', model: 'gpt-5.2', stream: false } as const
const messages = [{ role: 'user', content: 'What is it?' }]
const claude = { dialect: 'messages', model: 'claude-sonnet-4.5', stream: false } as const

test('validates before checking credits or the provider and leaves no hold', async () => {
  world.purse.balance = 0
  world.purse.unconfigured = true
  expect((await world.refused(chat, { messages: [] })).status).toBe(400)
  expect(
    (
      await world.refused(
        { ...chat, model: 'gemini-2.5-pro' },
        { messages, tools: [{ type: 'function', function: { name: 'f' } }], response_format: { type: 'json_object' } },
      )
    ).status,
  ).toBe(400)
  expect((await world.refused(chat, { messages })).status).toBe(402)
  world.purse.balance = 1_000_000
  expect((await world.refused(chat, { messages })).status).toBe(503)
  expect([world.purse.held, world.providers.requests]).toEqual([0, []])
})

test.each([
  [{ n: 2 }, 'n'],
  [{ temperature: 3 }, 'temperature'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ messages: [{ role: 'wizard', content: 'x' }] }, 'messages[0].role'],
  [
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x.example/a.png' } }] }] },
    'messages[0].content[0].image_url.url',
  ],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  [{ stop: 7 }, 'stop'],
])('rejects %j with a 400 that names %s', async (fields, param) => {
  const { status, body } = await world.refused(chat, { messages, ...fields })
  expect([status, body.error.param]).toEqual([400, param])
})

test.each([
  [{ store: true }, 'store'],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ background: true }, 'background'],
])('%j requires stored responses and is a 400 that names %s', async (fields, param) => {
  const { status, body } = await world.refused({ ...chat, dialect: 'responses' }, { input: 'Hi', ...fields })
  expect([status, body.error.param]).toEqual([400, param])
})

test('returns 404 for an unknown model', async () => {
  expect(await world.refused({ ...chat, model: 'gpt-0' }, { messages })).toMatchObject({
    status: 404,
    body: { error: { code: 'model_not_found' } },
  })
})

test('drops fields without an equivalent at the provider and warns', async () => {
  const { headers } = await world.ask({ ...chat, model: 'claude-sonnet-4.5' }, { messages, logit_bias: { 50: 1 } })
  expect(headers['x-steward-warnings']).toContain('logit_bias ignored')
})

test.each([
  [chat, { messages, service_tier: 'priority', web_search_options: {} }],
  [
    claude,
    { max_tokens: 9, messages, service_tier: 'priority', tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  ],
  [
    { ...chat, dialect: 'responses' as const },
    { input: 'x', service_tier: 'flex', tools: [{ type: 'web_search' }] },
  ],
])('drops options that cost more than tokens (%#)', async (gatewayRequest, body) => {
  await world.ask(gatewayRequest, body)
  for (const name of ['service_tier', 'web_search_options', 'tools']) expect(world.sent()).not.toHaveProperty(name)
})

test('redacts the provider key in errors', async () => {
  world.providers.play(
    { status: 401, body: { error: { message: 'Incorrect API key provided: sk-openai-secret' } } },
    { status: 400, body: { error: { message: 'Bad key sk-openai-secret' } } },
  )
  for (const status of [502, 400]) {
    const refused = await world.refused(chat, { messages })
    expect(refused.status).toBe(status)
    expect(JSON.stringify(refused.body)).not.toContain('sk-openai-secret')
  }
})

test.each(Object.keys(dialects) as (keyof typeof dialects)[])(
  'forwards the Retry-After header of the provider (%s)',
  async (dialect) => {
    world.providers.play({ status: 429, headers: { 'retry-after': '17' } })
    const body = dialect === 'responses' ? { input: 'x' } : { max_tokens: 5, messages }
    expect(await world.refused({ ...chat, model: 'claude-sonnet-4.5', dialect }, body)).toMatchObject({
      status: 429,
      error: { retryAfter: '17' },
    })
  },
)

test('retries an overloaded provider once', async () => {
  world.providers.play({ status: 503 })
  await world.ask(chat, { messages })
  expect(world.providers.requests).toHaveLength(2)
  world.providers.play({ status: 529 }, { status: 529 })
  expect((await world.refused(claude, { max_tokens: 5, messages })).status).toBe(503)
  expect(world.providers.requests).toHaveLength(4)
})

test('does not retry a request after its connection breaks', async () => {
  world.providers.play({ cut: true })
  expect((await world.refused(chat, { messages })).status).toBe(502)
  expect(world.providers.requests).toHaveLength(1)
  expect(world.purse.held).toBe(0)
})

test('bills the received part of a broken stream and sends an error event', async () => {
  const frames = messagesFrames({ parts: [{ text: 'A beginning without an end' }], usage: plainUsage }).slice(0, 6)
  world.providers.play({ frames, after: 'cut' })
  const { text } = await world.ask({ ...claude, stream: true }, { max_tokens: 50, messages })
  expect(text).toContain('event: error\n')
  expect(world.purse.charges).toMatchObject([{ estimated: true, usage: { input: 11 } }])
})

test('bills a client that disconnects before the first frame and closes the provider connection', async () => {
  world.providers.play({
    frames: chatFrames({ parts: [{ text: 'Never read' }], usage: plainUsage }).slice(0, 3),
    after: 'silence',
  })
  const leaving = new AbortController()
  await world.frames({ ...chat, stream: true }, { messages }, leaving.signal)
  leaving.abort()
  await eventually(() => expect(world.purse.charges).toHaveLength(1))
  await eventually(() => expect(world.providers.leftConnections()).toBe(1))
  expect(world.purse.held).toBe(0)
})

test('applies backpressure to the provider for a slow client', async () => {
  const [, frame = ''] = chatFrames({ parts: [{ text: 'x' }], usage: plainUsage })
  const frames = Array.from({ length: 40_000 }, () => frame.replace('"x"', `"${'x'.repeat(2_000)}"`))
  world.providers.play({ frames, after: 'silence' })
  const leaving = new AbortController()
  const answer = await world.frames({ ...chat, stream: true }, { messages }, leaving.signal)
  if (answer.kind !== 'stream') throw new Error('It is no stream.')
  await answer.frames.next()
  let before = -1
  await eventually(() => {
    const now = world.providers.writtenFrames()
    const still = now === before
    before = now
    expect(still).toBe(true)
  })
  expect(before).toBeLessThan(frames.length)
  leaving.abort()
  await answer.frames.return(undefined)
  await eventually(() => expect(world.purse.charges).toHaveLength(1))
})

test('without max_tokens limits the hold and reports the limit in a header', async () => {
  const { headers } = await world.ask(chat, { messages })
  expect(world.sent().max_completion_tokens).toBe(16_384)
  expect(headers['x-steward-max-tokens']).toBe('16384')
  const response = await world.ask(chat, { messages, max_tokens: 20 })
  expect(response.headers).not.toHaveProperty('x-steward-max-tokens')
})

test('falls back to chat completions when an OpenAI-compatible server lacks Responses', async () => {
  world.providers.withoutResponses()
  const ownWorld = await createGatewayWorld()
  try {
    ownWorld.providers.withoutResponses()
    const { body } = await ownWorld.ask({ ...chat, dialect: 'responses' }, { input: 'Hi' })
    expect(body.output[0].content[0].text).toBe('Hello from a fake.')
    expect(ownWorld.providers.requests.map((it) => it.path)).toEqual([
      '/openai/v1/responses',
      '/openai/v1/chat/completions',
    ])
    await ownWorld.ask({ ...chat, dialect: 'responses' }, { input: 'Hi' })
    expect(ownWorld.providers.requests).toHaveLength(3)
  } finally {
    await ownWorld.close()
  }
})

test('maps namespace and custom Responses tools and drops unknown ones', async () => {
  const tools = [
    {
      type: 'namespace',
      name: 'files',
      description: 'd',
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
    },
    { type: 'custom', name: 'patch', description: 'Applies a patch' },
    { type: 'web_search' },
  ]
  world.providers.play({
    parts: [
      { call: 'files__read', id: 'toolu_1', args: '{}' },
      { call: 'patch', id: 'toolu_2', args: '{"input":"*** Begin"}' },
    ],
    usage: plainUsage,
  })
  for (const stream of [false, true]) {
    if (stream)
      world.providers.play({
        parts: [
          { call: 'files__read', id: 'toolu_1', args: '{}' },
          { call: 'patch', id: 'toolu_2', args: '{"input":"*** Begin"}' },
        ],
        usage: plainUsage,
      })
    const { body, headers } = await world.ask(
      { dialect: 'responses', model: 'claude-sonnet-4.5', stream },
      { input: 'Hi', tools },
    )
    expect(body.output).toMatchObject([
      { type: 'function_call', namespace: 'files', name: 'read', call_id: 'toolu_1', arguments: '{}' },
      { type: 'custom_tool_call', name: 'patch', call_id: 'toolu_2', input: '*** Begin' },
    ])
    expect(headers['x-steward-warnings']).toContain('tool of type web_search ignored')
  }
})

test('restores tool names that were rewritten for a provider', async () => {
  const name = `mcp__${'very_'.repeat(20)}long.tool`
  world.providers.play({ status: 500 })
  await world.refused(
    { ...claude, model: 'gemini-3-pro' },
    { max_tokens: 5, messages, tools: [{ name, input_schema: { type: 'object' } }] },
  )
  const fitted = world.sent().tools[0].functionDeclarations[0].name
  expect(fitted).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  world.providers.play({ parts: [{ call: fitted, id: 'c', args: '{}' }], usage: plainUsage })
  const { body } = await world.ask(
    { ...claude, model: 'gemini-3-pro' },
    { max_tokens: 5, messages, tools: [{ name, input_schema: { type: 'object' } }] },
  )
  expect(body.content[0].name).toBe(name)
})

test('charges nothing for a local model', async () => {
  const { body } = await world.ask({ ...chat, model: 'shed-model' }, { messages })
  expect(body.usage.cost).toEqual({ micro_usd: 0, currency: 'USD', price_version: 'free', estimated: false })
})

test('estimates more input tokens than a tokenizer counts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { minLength: 1, maxLength: 5 }), (texts) => {
      const request = dialects.chat.read({ model: 'm', messages: texts.map((content) => ({ role: 'user', content })) })
      expect(getMaxInputTokens(request)).toBeGreaterThan(countTokens(texts.join('\n')))
    }),
  )
})
