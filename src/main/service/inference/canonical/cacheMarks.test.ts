import { afterAll, beforeEach, expect, test } from 'vitest'
import { createGatewayWorld, type GatewayRequest } from '#test/support/models/gatewayWorld.ts'
import { plainUsage } from '#test/support/models/scriptedAnswer.ts'

const world = await createGatewayWorld()
afterAll(() => world.close())
beforeEach(() => world.clear())

const requested = { dialect: 'chat', model: 'claude-sonnet-4.5', stream: false } as const
const long = 'A rule of the house. '.repeat(400)
const history = [
  { role: 'system', content: long },
  { role: 'user', content: 'One' },
  { role: 'assistant', content: 'Two' },
  { role: 'user', content: 'Three' },
]
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
const mark = { type: 'ephemeral' }
const marks = (body: unknown): number => JSON.stringify(body).split('"cache_control"').length - 1

test('sets cache marks after the system prompt and the last turns of a conversation', async () => {
  await world.ask(requested, { messages: history })
  const { system, messages } = world.sent()
  expect(system.at(-1)).toMatchObject({ cache_control: mark })
  expect(
    messages.map((message: { content: { cache_control?: unknown }[] }) => message.content.at(-1)?.cache_control),
  ).toEqual([mark, undefined, mark])
  expect(marks(world.sent())).toBe(3)
})

test('sets a cache mark on the tools only without a system prompt', async () => {
  await world.ask(requested, { messages: [{ role: 'user', content: long }], tools })
  expect(world.sent().tools.at(-1)).toMatchObject({ cache_control: mark })
  expect(marks(world.sent())).toBe(2)
  await world.ask(requested, { messages: history.slice(0, 2), tools })
  expect(marks(world.sent().tools)).toBe(0)
  expect(marks(world.sent())).toBe(2)
})

test.each([
  ['a short prompt', requested, { messages: history.slice(1), tools }],
  ['one question', requested, { messages: history.slice(0, 2) }],
  ['a prompt below the least of its model', { ...requested, model: 'claude-haiku-4.5' }, { messages: history }],
  ['a family that keeps prompts by itself', { ...requested, model: 'gpt-5.2' }, { messages: history }],
  ['a family that keeps them otherwise', { ...requested, model: 'gemini-3-pro' }, { messages: history }],
  [
    'what passes raw',
    { ...requested, dialect: 'messages' as const },
    { system: long, messages: history.slice(1), max_tokens: 9 },
  ],
])('%s gets no cache mark', async (_, way, body) => {
  await world.ask(way, body)
  expect(marks(world.sent())).toBe(0)
})

test('adds no cache marks when the caller sets them', async () => {
  const content = [{ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl: '1h' } }]
  await world.ask(requested, { messages: [{ role: 'system', content }, ...history.slice(1)] })
  expect(marks(world.sent())).toBe(1)
  expect(world.sent().system[0].cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
})

test.each([false, true])('reports cache writes and reads in the usage at their prices (stream %s)', async (stream) => {
  const usage = { ...plainUsage, input: 10, cacheRead: 1_000, cacheWrite5m: 2_000, output: 100 }
  world.providers.play({ parts: [{ text: 'Four' }], usage })
  const { body } = await world.ask({ ...requested, stream }, { messages: history, max_tokens: 100 })
  expect(body.usage).toMatchObject({
    prompt_tokens: 3_010,
    prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 2_000 },
    cost: { micro_usd: 10 * 3 + 300 + 2_000 * 3.75 + 100 * 15 },
  })
})

/** Returns the smallest balance, in micro-dollars, at which a request is accepted. */
async function minBalance(request: GatewayRequest, body: object): Promise<number> {
  let [low, high] = [0, 1_000_000]
  while (high - low > 1) {
    world.purse.balance = Math.floor((low + high) / 2)
    const isPaid = await world.ask(request, { ...body, max_tokens: 1 }).then(
      () => true,
      () => false,
    )
    if (isPaid) high = Math.floor((low + high) / 2)
    else low = Math.floor((low + high) / 2)
  }
  return high
}

test('holds enough credits for writing the whole prompt to the cache', async () => {
  const unmarked = await minBalance(requested, { messages: history.slice(0, 2) })
  const marked = await minBalance(requested, { messages: history })
  expect(marked).toBeGreaterThan(unmarked * 1.2)
})

test('holds enough credits for passed-through cache marks in any block', async () => {
  const request = { ...requested, dialect: 'messages' as const }
  const bodyWith = (mark: object) => ({
    messages: [
      { role: 'user', content: long },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, ...mark }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }] },
    ],
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
  })
  const plain = await minBalance(request, bodyWith({}))
  const marked = await minBalance(request, bodyWith({ cache_control: { type: 'ephemeral' } }))
  const hour = await minBalance(request, bodyWith({ cache_control: { type: 'ephemeral', ttl: '1h' } }))
  expect(marked).toBeGreaterThan(plain * 1.2)
  expect(hour).toBeGreaterThan(plain * 1.8)
})
