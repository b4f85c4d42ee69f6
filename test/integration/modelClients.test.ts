import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { modelService } from '../support/models/modelService.ts'
import { chatFrames, geminiFrames, messagesFrames, plainUsage } from '../support/models/scriptedAnswer.ts'

/** Official clients of the providers, against every family. */
const { service, providers, balance, close } = await modelService()
afterAll(close)
beforeEach(() => providers.clear())

const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 })
const anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 })
const models = ['gpt-5.2', 'gpt-5.2-codex', 'claude-sonnet-4.5', 'gemini-3-pro', 'kimi-k2.5', 'qwen3-coder'].map(
  (model) => ({ model }),
)
const messages = [{ role: 'user' as const, content: 'Hello' }]
const call = { call: 'weather', id: 'call_w', args: '{"city":"Oslo"}' }
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

test.each(models)('openai, chat completions of $model: returns JSON with its cost', async ({ model }) => {
  const answer = await openai.chat.completions.create({ model, messages })
  expect(answer.choices[0]?.message.content).toBe('Hello from a fake.')
  expect(answer).toMatchObject({
    model,
    object: 'chat.completion',
    usage: { cost: { currency: 'USD', estimated: false } },
  })
  expect(answer.id).toMatch(/^chatcmpl-/)
})

test.each(models)(
  'openai, chat completions of $model: streams a tool call and accepts its result',
  async ({ model }) => {
    providers.play(
      { parts: [{ text: 'I look.' }, call], usage: plainUsage },
      { parts: [{ text: 'Rain.' }], usage: plainUsage },
    )
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
    const stream = openai.chat.completions.stream({ model, messages, tools, stream_options: { include_usage: true } })
    const { choices, usage } = await stream.finalChatCompletion()
    const [choice] = choices
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I look.',
        tool_calls: [{ id: 'call_w', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
    })
    expect(usage).toMatchObject({ completion_tokens: 7, cost: { estimated: false } })
    const answer = await openai.chat.completions.create({
      model,
      tools,
      messages: [...messages, choice!.message, { role: 'tool', tool_call_id: 'call_w', content: 'rain' }],
    })
    expect(answer.choices[0]?.message.content).toBe('Rain.')
  },
)

test.each(models)(
  'openai, Responses of $model: returns JSON and a stream with its full event sequence',
  async ({ model }) => {
    const plain = await openai.responses.create({ model, input: 'Hello', store: false })
    expect([plain.output_text, plain.status]).toEqual(['Hello from a fake.', 'completed'])
    providers.play({ parts: [{ text: 'I look.' }, call], usage: plainUsage })
    const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: true }]
    const stream = openai.responses.stream({ model, input: 'Hello', store: false, tools })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    const answer = await stream.finalResponse()
    expect(answer.output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_w', name: 'weather', arguments: '{"city":"Oslo"}' },
    ])
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.output_item.added'])
    expect(types.at(-1)).toBe('response.completed')
  },
)

test.each(models)('openai, Responses of $model: supports a tool loop that refers to items by id', async ({ model }) => {
  const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: true }]
  for (const isStream of [false, true]) {
    providers.clear()
    providers.play(
      { parts: [{ text: 'I look.' }, call], usage: plainUsage },
      { parts: [{ text: 'Rain.' }], usage: plainUsage },
    )
    const request = { model, input: 'Hello', tools }
    const first = await (isStream ? openai.responses.stream(request).finalResponse() : openai.responses.create(request))
    const references = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }))
    expect(references).toHaveLength(2)
    const result = { type: 'function_call_output' as const, call_id: 'call_w', output: 'rain' }
    const input = [{ role: 'user' as const, content: 'Hello' }, ...references, result]
    const second = await openai.responses.create({ model, tools, input })
    expect(second.output_text).toBe('Rain.')
    expect(JSON.stringify(providers.requests.at(-1)?.body)).toMatch(/I look\..*Oslo.*rain/s)

    const otherAccount = secondAccount(service.dataDir)
    const stranger = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: otherAccount.key, maxRetries: 0 })
    await expect(stranger.responses.create({ model, tools, input })).rejects.toMatchObject({ status: 400 })
  }
})

test('openai, Responses with `store: false`: stores no item', async () => {
  const first = await openai.responses.create({ model: 'claude-sonnet-4.5', input: 'Hello', store: false })
  const input = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }))
  await expect(openai.responses.create({ model: 'claude-sonnet-4.5', input })).rejects.toMatchObject({
    status: 400,
    param: 'input[0]',
  })
})

test.each(models)('openai, Responses of $model: returns structured output', async ({ model }) => {
  providers.play({ parts: [{ text: '{"city":"Oslo","degrees":3}' }], usage: plainUsage })
  const Weather = z.object({ city: z.string(), degrees: z.number() })
  const answer = await openai.responses.parse({
    model,
    input: 'Hello',
    store: false,
    text: { format: zodTextFormat(Weather, 'weather') },
  })
  expect(answer.output_parsed).toEqual({ city: 'Oslo', degrees: 3 })
})

test.each(models)('anthropic, Messages of $model: returns JSON and a stream and a tool call', async ({ model }) => {
  const plain = await anthropic.messages.create({ model, max_tokens: 1_000, messages })
  expect(plain.content).toMatchObject([{ type: 'text', text: 'Hello from a fake.' }])
  providers.play(
    { parts: [{ text: 'I look.' }, { ...call, id: 'toolu_w' }], usage: plainUsage },
    { parts: [{ text: 'Rain.' }], usage: plainUsage },
  )
  const tools = [{ name: 'weather', input_schema: parameters }]
  const answer = await anthropic.messages.stream({ model, max_tokens: 1_000, messages, tools }).finalMessage()
  expect(answer.stop_reason).toBe('tool_use')
  const use = answer.content.find((it) => it.type === 'tool_use')
  expect(use).toMatchObject({ name: 'weather', input: { city: 'Oslo' } })
  const next = await anthropic.messages.create({
    model,
    max_tokens: 1_000,
    tools,
    messages: [
      ...messages,
      { role: 'assistant', content: answer.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use!.id, content: 'rain' }] },
    ],
  })
  expect(next.content).toMatchObject([{ type: 'text', text: 'Rain.' }])
})

test('errors have the matching classes of the clients', async () => {
  const wrongKey = { baseURL: `${service.url}/v1`, apiKey: 'wrong', maxRetries: 0 }
  await expect(new OpenAI(wrongKey).chat.completions.create({ model: 'gpt-5.2', messages })).rejects.toBeInstanceOf(
    OpenAI.AuthenticationError,
  )
  await expect(
    new Anthropic({ ...wrongKey, baseURL: service.url }).messages.create({ model: 'gpt-5.2', max_tokens: 9, messages }),
  ).rejects.toSatisfy(
    (error) =>
      error instanceof Anthropic.AuthenticationError &&
      error.error !== undefined &&
      /authentication_error/.test(JSON.stringify(error.error)),
  )
  await expect(openai.chat.completions.create({ model: 'gpt-5.2', messages: [] })).rejects.toMatchObject({
    status: 400,
    param: 'messages',
    type: 'invalid_request_error',
  })
  await expect(openai.chat.completions.create({ messages } as never)).rejects.toMatchObject({
    status: 400,
    param: 'model',
  })
  await expect(openai.chat.completions.create({ model: 'gpt-0', messages })).rejects.toBeInstanceOf(
    OpenAI.NotFoundError,
  )
  const poor = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: secondAccount(service.dataDir).key,
    maxRetries: 0,
  })
  await expect(poor.chat.completions.create({ model: 'gpt-5.2', messages })).rejects.toMatchObject({ status: 402 })
  providers.play({ status: 503 }, { status: 503 })
  await expect(openai.chat.completions.create({ model: 'gpt-5.2', messages })).rejects.toBeInstanceOf(
    OpenAI.InternalServerError,
  )
  providers.play({ status: 429, headers: { 'retry-after': '9' } })
  await expect(openai.responses.create({ model: 'claude-sonnet-4.5', input: 'x', store: false })).rejects.toSatisfy(
    (error) => error instanceof OpenAI.RateLimitError && error.headers.get('retry-after') === '9',
  )
})

test.each([{ model: 'gpt-5.2' }, { model: 'claude-sonnet-4.5' }, { model: 'gemini-3-pro' }])(
  'aborting a stream closes the connection to $model immediately',
  async ({ model }) => {
    const long = { parts: [{ text: 'word '.repeat(200) }], usage: plainUsage }
    const frames = { 'gpt-5.2': chatFrames, 'claude-sonnet-4.5': messagesFrames, 'gemini-3-pro': geminiFrames }[model]!(
      long,
    )
    providers.play({ frames: frames.slice(0, 50), after: 'silence' })
    const stream = await openai.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) {
      stream.controller.abort()
      break
    }
    await eventually(() => expect(providers.leftConnections()).toBe(1))
    await eventually(async () => expect((await balance()).held).toBe(0))
    const { json } = await service.send('/v1/credits/history?limit=1')
    expect(json.transactions).toMatchObject([{ type: 'inference', description: model, metadata: { estimated: true } }])
  },
)

test('counts tokens and lists models for both clients', async () => {
  const { input_tokens: tokens } = await anthropic.messages.countTokens({ model: 'gemini-3-pro', messages })
  expect(tokens).toBeGreaterThan(0)
  const listed = await openai.models.list()
  expect(listed.data.map((it) => it.id)).toContain('kimi-k2.5')
  const page = await anthropic.models.list()
  expect(page.data[0]).toMatchObject({
    id: 'gpt-5.2',
    display_name: 'gpt-5.2',
    pricing: { input_per_million: 1.75, output_per_million: 14 },
  })
})

test('both clients retrieve a model and get 404 for an unknown one', async () => {
  expect(await openai.models.retrieve('kimi-k2.5')).toMatchObject({ id: 'kimi-k2.5', object: 'model' })
  expect(await anthropic.models.retrieve('gpt-5.2')).toMatchObject({ id: 'gpt-5.2', type: 'model' })
  await expect(openai.models.retrieve('no/such model')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
    type: 'invalid_request_error',
  })
})

test('anthropic, a stream starts with input tokens for models that count at the end', async () => {
  for (const model of ['gpt-5.2', 'gemini-3-pro', 'kimi-k2.5']) {
    const starts: number[] = []
    for await (const event of await anthropic.messages.create({ model, messages, max_tokens: 50, stream: true })) {
      if (event.type === 'message_start') starts.push(event.message.usage.input_tokens)
    }
    expect(starts).toEqual([expect.any(Number)])
    expect(starts[0]).toBeGreaterThan(0)
  }
})

test('openai, a response has every field that Open Responses requires', async () => {
  const { output: _, ...response } = await openai.responses.create({ model: 'gemini-3-pro', input: 'Hello' })
  expect(response).toMatchObject({
    ...{ background: false, error: null, incomplete_details: null, instructions: null, max_output_tokens: null },
    ...{ completed_at: expect.any(Number), created_at: expect.any(Number), frequency_penalty: 0, presence_penalty: 0 },
    ...{ max_tool_calls: null, metadata: {}, parallel_tool_calls: true, previous_response_id: null },
    ...{ prompt_cache_key: null, reasoning: { effort: null, summary: null }, safety_identifier: null },
    ...{
      service_tier: 'default',
      status: 'completed',
      store: false,
      temperature: 1,
      text: { format: { type: 'text' } },
    },
    ...{ tool_choice: 'auto', tools: [], top_logprobs: 0, top_p: 1, truncation: 'disabled', usage: expect.any(Object) },
  })
  const { output: __, ...streamed } = await openai.responses.stream({ model: 'kimi-k2.5', input: 'x' }).finalResponse()
  expect(Object.keys(streamed)).toEqual(expect.arrayContaining(Object.keys(response)))
})

test('openai, Responses without items are rejected before a provider query', async () => {
  await expect(openai.responses.create({ model: 'gpt-5.2', input: [] })).rejects.toMatchObject({
    status: 400,
    param: 'input',
  })
  expect(providers.requests).toEqual([])
})
