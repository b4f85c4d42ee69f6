import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSseParser } from '#platform/http/sseEvents.ts'
import { foldChat, foldMessages, foldResponses } from '#test/support/models/foldedStreams.ts'
import {
  chatFrames,
  chatJson,
  geminiFrames,
  geminiJson,
  messagesFrames,
  messagesJson,
  type ScriptedAnswer,
  type ScriptedPart,
} from '#test/support/models/scriptedAnswer.ts'
import { responsesFrames, responsesJson } from '#test/support/models/scriptedResponses.ts'
import { collectCompletion, createCompletionCollector } from './canonical/answer.ts'
import type { CanonicalEvent } from './canonical/canonical.ts'
import { chatDialect } from './dialects/chatDialect.ts'
import type { Dialect, ResponseMeta, UsageReport } from './dialects/dialect.ts'
import { messagesDialect } from './dialects/messagesDialect.ts'
import { responsesDialect } from './dialects/responsesDialect.ts'
import { createCompletionRules } from './streaming/completionRules.ts'
import { anthropicUpstream } from './upstreams/anthropicUpstream.ts'
import { geminiUpstream } from './upstreams/geminiUpstream.ts'
import { openAiUpstream } from './upstreams/openAiUpstream.ts'
import { responsesUpstream } from './upstreams/responsesUpstream.ts'
import type { Upstream } from './upstreams/upstream.ts'

const options = { newCallId: () => 'call_new' }

function readStream(upstream: Upstream, pieces: readonly Uint8Array[]): CanonicalEvent[] {
  const parser = createSseParser()
  const reader = upstream.streamReader(options)
  const rules = createCompletionRules()
  return [
    ...pieces.flatMap((piece) => parser.feed(piece).flatMap((sseEvent) => rules.pass(reader.push(sseEvent)))),
    ...parser.end().flatMap((sseEvent) => rules.pass(reader.push(sseEvent))),
    ...rules.pass(reader.end()),
  ]
}

const whole = (upstream: Upstream, body: Record<string, unknown>) =>
  createCompletionRules().pass(upstream.readAnswer(body, options))

/** Splits the text at these byte offsets, which may be within a character. */
function cut(text: string, offsets: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const ends = [...new Set(offsets.map((it) => it % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((it) => it.trim() !== '')
const callArgs = fc
  .dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((it) => JSON.stringify(it))
const call = fc.record({ call: fc.constantFrom('read_file', 'run', 'search'), id: fc.uuid(), args: callArgs })
const signedCall = fc.record({
  call: fc.constant('run'),
  id: fc.uuid(),
  args: callArgs,
  signature: fc.base64String({ minLength: 4 }),
})
const thinking = fc.record({ thinking: text })
const signedThinking = fc.record({
  thinking: fc.string({ unit: 'grapheme', maxLength: 20 }),
  signature: fc.base64String({ minLength: 4 }),
})
const usage = fc.record({
  input: fc.nat(9_999),
  cacheRead: fc.nat(9_999),
  cacheWrite5m: fc.constant(0),
  cacheWrite1h: fc.constant(0),
  output: fc.integer({ min: 500, max: 999 }),
  reasoning: fc.nat(400),
})

function answers(lead: fc.Arbitrary<ScriptedPart[]>, calls: fc.Arbitrary<ScriptedPart>): fc.Arbitrary<ScriptedAnswer> {
  return fc.record({
    parts: fc
      .tuple(lead, fc.array(fc.record({ text }), { maxLength: 1 }), fc.array(calls, { maxLength: 3 }))
      .map((it): ScriptedPart[] => it.flat())
      .filter((parts) => parts.some((part) => 'text' in part || 'call' in part)),
    usage,
  })
}

const kinds = [
  {
    name: 'OpenAI',
    upstream: openAiUpstream,
    answers: answers(fc.array(thinking, { maxLength: 1 }), call),
    json: chatJson,
    frames: (it: ScriptedAnswer) => chatFrames(it),
  },
  {
    name: 'Anthropic',
    upstream: anthropicUpstream,
    answers: answers(
      fc.array(fc.oneof(signedThinking, fc.record({ redacted: fc.base64String() })), { maxLength: 2 }),
      call,
    ),
    json: messagesJson,
    frames: (it: ScriptedAnswer) => messagesFrames(it),
  },
  {
    name: 'Gemini',
    upstream: geminiUpstream,
    answers: answers(fc.array(thinking, { maxLength: 1 }), fc.oneof(call, signedCall)),
    json: geminiJson,
    frames: (it: ScriptedAnswer) => geminiFrames(it),
  },
  {
    name: 'Responses',
    upstream: responsesUpstream,
    answers: answers(fc.array(signedThinking, { maxLength: 1 }), call),
    json: responsesJson,
    frames: (it: ScriptedAnswer) => responsesFrames(it),
  },
]

test.each(kinds)(
  '$name: any chunking of a stream yields the same completion as its JSON',
  ({ upstream, answers, json, frames }) => {
    fc.assert(
      fc.property(
        answers,
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (answer, offsets, newline) => {
          const wire = frames(answer).join(': a comment\n').replaceAll('\n', newline)
          expect(collectCompletion(readStream(upstream, cut(wire, offsets)))).toEqual(
            collectCompletion(whole(upstream, json(answer))),
          )
        },
      ),
    )
  },
)

test.each(kinds)('$name: a truncated stream ends with an error at any offset', ({ upstream, answers, frames }) => {
  fc.assert(
    fc.property(answers, fc.nat(), (answer, index) => {
      const all = frames(answer).join('')
      const byteCount = Buffer.from(all).length
      // The last frames contain the end of the stream: one frame for Gemini, three for OpenAI, two otherwise.
      const tail = Buffer.from(
        frames(answer)
          .slice(upstream === geminiUpstream ? -1 : upstream === openAiUpstream ? -3 : -2)
          .join(''),
      ).length
      const events = readStream(upstream, [Buffer.from(all).subarray(0, index % (byteCount - tail))])
      expect(events.at(-1)).toMatchObject({ type: 'error' })
    }),
  )
})

const meta: ResponseMeta = {
  id: 'resp_0123456789abcdef',
  model: 'our-model',
  createdSeconds: 1_700_000_001,
  requestBody: { stream_options: { include_usage: true } },
}

function toUsageReport(events: readonly CanonicalEvent[]): UsageReport {
  const { usage } = collectCompletion(events)
  if (!usage) throw new Error('There is no usage.')
  return { usage, cost: { micro_usd: 12, currency: 'USD', price_version: '1', estimated: false }, warnings: [] }
}

function writeEvents(dialect: Dialect, events: readonly CanonicalEvent[], bill: UsageReport): string {
  const writer = dialect.streamWriter(meta)
  return events
    .map((event) => {
      if (event.type === 'error') return writer.fail(event.error)
      return event.type === 'finish' ? writer.finish(event, bill) : writer.write(event)
    })
    .join('')
}

const dialects = [
  { dialect: chatDialect, folded: foldChat },
  { dialect: messagesDialect, folded: foldMessages },
  { dialect: responsesDialect, folded: foldResponses },
]
const pairs = kinds.flatMap((kind) =>
  dialects.map((dialect) => ({ ...kind, ...dialect, pair: `${kind.name} to ${dialect.dialect.name}` })),
)

test.each(pairs)(
  '$pair: a client assembles the same response from the stream as from JSON',
  ({ upstream, answers, json, frames, dialect, folded }) => {
    fc.assert(
      fc.property(answers, (answer) => {
        const events = readStream(upstream, [Buffer.from(frames(answer).join(''))])
        const plain = whole(upstream, json(answer))
        const asJson = dialect.writeAnswer(collectCompletion(plain), meta, toUsageReport(plain))
        expect(JSON.parse(JSON.stringify(folded(writeEvents(dialect, events, toUsageReport(events)))))).toEqual(
          JSON.parse(JSON.stringify(asJson)),
        )
      }),
    )
  },
)

test('collects the same completion from single events as from all together', () => {
  const events = readStream(anthropicUpstream, [
    Buffer.from(
      messagesFrames({
        parts: [{ text: 'Good day' }],
        usage: { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 2, reasoning: 0 },
      }).join(''),
    ),
  ])
  const collector = createCompletionCollector()
  for (const event of events) collector.take(event)
  expect(collector.answer()).toEqual(collectCompletion(events))
})
