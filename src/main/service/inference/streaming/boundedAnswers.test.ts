import { afterAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createGatewayWorld, dialects } from '#test/support/models/gatewayWorld.ts'
import { chatFrames, geminiFrames, messagesFrames, plainUsage } from '#test/support/models/scriptedAnswer.ts'
import { responsesFrames } from '#test/support/models/scriptedResponses.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { toLocalModel } from '../catalogue/modelCatalogue.ts'
import { modelFamilies } from '../families/modelFamilies.ts'
import { createOpenAiStreamReader } from '../upstreams/openAiAnswer.ts'
import { type CompletionLimits, getMaxCompletionChars } from './completionLimits.ts'
import { createCompletionStream } from './completionStream.ts'

const thinkingQwen: CatalogueModel = {
  ...toLocalModel('shed', { name: 'qwen-thinking' }),
  ...{
    kind: 'qwen',
    quirks: modelFamilies.qwen.quirks,
    providerId: 'e',
    thinksInStreamsOnly: true,
    reasoning: { by: 'toggle', default: 'medium' },
  },
}
const world = await createGatewayWorld({ extra: [thinkingQwen] })
afterAll(() => world.close())
beforeEach(() => world.clear())

const models = ['gpt-5.2', 'claude-sonnet-4.5', 'gemini-2.5-pro', 'kimi-k2.5', 'qwen3-coder', 'shed-model']
const names = Object.keys(dialects) as (keyof typeof dialects)[]
const cases = models.flatMap((model) => names.map((dialect) => [model, dialect] as const))
const body = (dialect: keyof typeof dialects) =>
  dialect === 'responses'
    ? { input: 'x', max_output_tokens: 16 }
    : { messages: [{ role: 'user', content: 'x' }], max_tokens: 16 }

/** Fits in one frame. */
const mark = 'xyzzy'

/** Streams frames up to a text delta, then repeats the delta beyond every limit. */
function endlessFrames(model: string, dialect: keyof typeof dialects, text: string): string[] {
  const answer = { parts: [{ text: mark }], usage: plainUsage }
  const frames = model.startsWith('claude')
    ? messagesFrames(answer)
    : model.startsWith('gemini')
      ? geminiFrames(answer)
      : model.startsWith('gpt') && dialect === 'responses'
        ? responsesFrames(answer, model)
        : chatFrames(answer)
  const index = frames.findIndex((frame) => frame.includes(mark))
  const repeated = frames[index]?.replaceAll(mark, text) ?? ''
  return [...frames.slice(0, index), ...Array.from({ length: 64 }, () => repeated)]
}

test.each(cases)('cuts off an endless stream of %s and charges at most max_tokens (%s)', async (model, dialect) => {
  const frames = endlessFrames(model, dialect, '€uro and słowo '.repeat(4_000))
  world.providers.play({ frames, after: 'silence' })
  const { text } = await world.ask({ dialect, model, stream: true }, body(dialect))
  expect(text).toContain('exceeded `max_tokens`')
  expect(world.purse.charges).toMatchObject([{ estimated: true, usage: { output: 16 } }])
  expect(world.purse.held).toBe(0)
  await eventually(() => expect(world.providers.leftConnections()).toBe(1))
})

test('cuts off an endless stream that is collected for a JSON response', async () => {
  const qwen = { dialect: 'chat', model: 'qwen-thinking', stream: false } as const
  world.providers.play({ frames: endlessFrames('qwen', 'chat', 'a word '.repeat(8_000)), after: 'silence' })
  const { status, body: reply } = await world.refused(qwen, body('chat'))
  expect([status, reply.error.code]).toEqual([502, 'overlong'])
  expect(world.purse.charges).toMatchObject([{ estimated: true, usage: { output: 16 } }])
})

test('limits buffered arguments of a call that waits for another call', async () => {
  const call = (index: number, text: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: text } }] } }] })}\n\n`
  const frames = [call(0, '{'), ...Array.from({ length: 20 }, () => call(1, 'x'.repeat(1_000_000)))]
  world.providers.play({ frames, after: 'silence' })
  const { text } = await world.ask({ dialect: 'messages', model: 'kimi-k2.5', stream: true }, body('messages'))
  expect(text).toContain('too many tool calls')
})

test('rejects an oversized JSON response and releases its hold', async () => {
  world.providers.play({ parts: [{ text: 'x'.repeat(9 * 1024 * 1024) }], usage: plainUsage })
  const { status } = await world.refused({ dialect: 'chat', model: 'gpt-5.2', stream: false }, body('chat'))
  expect([status, world.purse.held]).toEqual([502, 0])
})

test.each([1e300, 2 ** 60, Number.MAX_SAFE_INTEGER])(
  'does not charge a reported count of %d tokens',
  async (prompt_tokens) => {
    const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens, completion_tokens: 1 } })}\n\n`
    const [start = '', text = ''] = chatFrames({ parts: [{ text: 'hi' }], usage: plainUsage })
    world.providers.play({ frames: [start, text, end, 'data: [DONE]\n\n'] })
    const { body: reply } = await world.ask({ dialect: 'chat', model: 'gpt-5.2', stream: true }, body('chat'))
    expect(reply.usage.cost).toMatchObject({ estimated: true })
    expect(reply.usage.cost.micro_usd).toBeLessThan(1_000)
    expect(world.purse.held).toBe(0)
  },
)

test('redacts the provider key in successful responses', async () => {
  const echo = 'Bearer sk-openai-secret came with it'
  for (const stream of [false, true]) {
    const answer = { parts: [{ text: stream ? mark : echo }], usage: plainUsage }
    const frames = chatFrames(answer).map((frame) => frame.replaceAll(mark, echo))
    world.providers.play(stream ? { frames } : answer)
    const { text, body: reply } = await world.ask({ dialect: 'chat', model: 'gpt-5.2', stream }, body('chat'))
    expect(text + JSON.stringify(reply)).not.toContain('sk-openai-secret')
    expect(text + JSON.stringify(reply)).toContain('Bearer … came with it')
  }
})

/** Streams one chunk per minute. */
async function readSlowly(
  piece: string,
  limits: Pick<CompletionLimits, 'maxQuietMs' | 'maxDurationMs'>,
): Promise<number> {
  let minutes = 0
  const stream = createCompletionStream({
    reader: createOpenAiStreamReader({ newCallId: () => 'c' }),
    limits: { ...limits, maxChars: getMaxCompletionChars(1_000) },
    now: () => minutes * 60_000,
    scrubText: (text) => text,
    restore: (event) => event,
    joinsTexts: false,
  })
  async function* pieces() {
    for (; minutes < 1_000; minutes += 1) yield Buffer.from(piece)
  }
  await expect(async () => {
    for await (const _ of stream.read(pieces()));
  }).rejects.toMatchObject({ kind: 'timeout' })
  return minutes
}

test.each([
  ['comments', ': still here\n\n'],
  ['empty deltas', 'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n'],
])('%s do not count as content and an empty completion times out', async (_, piece) => {
  expect(await readSlowly(piece, { maxQuietMs: 300_000, maxDurationMs: 6_000_000 })).toBe(6)
})

test('enforces a deadline on a completion that keeps sending content', async () => {
  const piece = 'data: {"choices":[{"index":0,"delta":{"content":"and "}}]}\n\n'
  expect(await readSlowly(piece, { maxQuietMs: 300_000, maxDurationMs: 1_200_000 })).toBe(21)
})
