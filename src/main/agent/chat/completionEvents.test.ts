import { expect, test } from 'vitest'
import { parseCompletionEvents } from './completionEvents.ts'

const chunk = (fields: object) => JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, ...fields })
const choice = (delta: unknown, more: object = {}) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

test('parses text, reasoning and refusals', () => {
  expect(parseCompletionEvents(choice({ role: 'assistant', content: 'Hi' }))).toEqual([
    { type: 'delta', text: 'Hi', reasoning: '' },
  ])
  expect(parseCompletionEvents(choice({ reasoning_content: 'Hm.' }))).toEqual([
    { type: 'delta', text: '', reasoning: 'Hm.' },
  ])
  expect(parseCompletionEvents(choice({ refusal: 'No.' }))).toEqual([{ type: 'delta', text: 'No.', reasoning: '' }])
  expect(parseCompletionEvents(choice({ role: 'assistant', content: '' }))).toEqual([])
})

test('parses the finish, usage and mid-stream errors', () => {
  expect(parseCompletionEvents(choice({}, { finish_reason: 'length' }))).toEqual([{ type: 'finish', reason: 'length' }])
  expect(parseCompletionEvents(' [DONE]')).toEqual([{ type: 'done' }])
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 8 },
    cost: { micro_usd: 41, currency: 'USD', price_version: 'v', estimated: false },
  }
  expect(parseCompletionEvents(chunk({ choices: [], usage }))).toEqual([
    {
      type: 'usage',
      usage: {
        inputTokens: 12,
        cachedTokens: 8,
        cacheWrittenTokens: 0,
        outputTokens: 3,
        reasoningTokens: 0,
        costMicroUsd: 41,
        estimated: false,
      },
    },
  ])
  expect(parseCompletionEvents('{"error":{"message":"Broken.","code":null},"detail":"Why."}')).toEqual([
    { type: 'error', error: { message: 'Broken.', code: null }, detail: 'Why.' },
  ])
})

test.each(['', '{', 'null', '[]', '"text"'])('rejects %j as an invalid chunk', (data) => {
  expect(() => parseCompletionEvents(data)).toThrow(expect.objectContaining({ code: 'inference/upstream' }))
})

test.each([
  '{"choices":"x"}',
  '{"choices":[null]}',
  '{"choices":[{"delta":7}]}',
  '{"choices":[{"delta":{"content":{"a":1},"reasoning_content":["x"]}}]}',
  '{"usage":{"prompt_tokens":-1,"cost":{"micro_usd":-5}}}',
  '{"usage":"much","error":"text"}',
])('ignores invalid fields in %j', (data) => {
  for (const event of parseCompletionEvents(data)) {
    expect(event).toMatchObject({ type: 'usage', usage: { inputTokens: 0, costMicroUsd: undefined, estimated: true } })
  }
})
