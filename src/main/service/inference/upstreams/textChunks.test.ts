import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chatFrames, plainUsage } from '#test/support/models/scriptedAnswer.ts'
import { createOpenAiStreamReader } from './openAiAnswer.ts'
import { createTextChunks } from './textChunks.ts'

const chunk = (content: string, more: object = {}) =>
  JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more })

test('reads the text of a chunk that differs from the learned one only in text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (first, second) => {
      const chunks = createTextChunks()
      chunks.learn(chunk(first))
      const text = chunks.readText(chunk(second))
      if (text !== undefined) expect(text).toBe(second)
    }),
  )
  const chunks = createTextChunks()
  chunks.learn(chunk('one'))
  expect(chunks.readText(chunk(' two'))).toBe(' two')
})

test.each([
  chunk('a "quote"'),
  chunk('a\nline'),
  chunk(''),
  chunk('two', { usage: { prompt_tokens: 1 } }),
  chunk('two').replace('"finish_reason":null', '"finish_reason":"stop"'),
  chunk('two').replace('"two"', '"two","content":"three"'),
  chunk('two').replace('"two"', '"two'),
  `${chunk('two')}}`,
  chunk('two').replace('"two"', '"two\u0001"'),
])('leaves any other chunk to the parser: %s', (data) => {
  const chunks = createTextChunks()
  chunks.learn(chunk('one'))
  expect(chunks.readText(data)).toBeUndefined()
})

test('reads the same events from uniform and varied chunks', () => {
  const datas = chatFrames({ parts: [{ text: 'one "two" three\nfour five six seven' }], usage: plainUsage }).map(
    (value) => value.slice('data: '.length).trimEnd(),
  )
  const read = (vary: (data: string, index: number) => string) => {
    const reader = createOpenAiStreamReader({ newCallId: () => 'call' })
    return datas.flatMap((data, index) => reader.push({ event: undefined, data: vary(data, index) }))
  }
  const varied = read((data, index) => (data.startsWith('{') ? data.replace('{', `{"obfuscation":"${index}",`) : data))
  expect(read((data) => data)).toEqual(varied)
})

test('ends a run before the first event that must be parsed', () => {
  const chunks = createTextChunks()
  const frame = (content: string) => `data: ${chunk(content)}\n\n`
  expect(chunks.runIn(frame('one'), 0)).toBeUndefined()
  chunks.learn(chunk('one'))
  const alike = frame(' two') + frame(' three')
  for (const variant of [frame('"four"'), frame('four').trimEnd(), frame(''), ': comment\n\n', 'data: [DONE]\n\n']) {
    expect(chunks.runIn(`x${alike}${variant}${alike}`, 1)).toEqual({ frames: alike, text: ' two three' })
    expect(chunks.runIn(variant + alike, 0)).toBeUndefined()
  }
})
