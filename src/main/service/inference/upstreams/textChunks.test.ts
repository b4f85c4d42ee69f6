import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chatFrames, plainUsage } from '#test/support/models/scriptedAnswer.ts'
import { openAiStreamReader } from './openAiAnswer.ts'
import { textChunks } from './textChunks.ts'

const chunk = (content: string, more: object = {}) =>
  JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more })

test('a chunk that it takes for a text has that text, and is the one it learnt else', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (first, second) => {
      const chunks = textChunks()
      chunks.learn(chunk(first))
      const text = chunks.textOf(chunk(second))
      if (text !== undefined) expect(text).toBe(second)
    }),
  )
  const chunks = textChunks()
  chunks.learn(chunk('one'))
  expect(chunks.textOf(chunk(' two'))).toBe(' two')
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
])('anything else is parsed: %s', (data) => {
  const chunks = textChunks()
  chunks.learn(chunk('one'))
  expect(chunks.textOf(data)).toBeUndefined()
})

test('a stream reads the same, whether its chunks come alike or not', () => {
  const datas = chatFrames({ parts: [{ text: 'one "two" three\nfour five six seven' }], usage: plainUsage }).map((it) =>
    it.slice('data: '.length).trimEnd(),
  )
  const read = (vary: (data: string, at: number) => string) => {
    const reader = openAiStreamReader({ newCallId: () => 'call' })
    return datas.flatMap((data, at) => reader.push({ event: undefined, data: vary(data, at) }))
  }
  const varied = read((data, at) => (data.startsWith('{') ? data.replace('{', `{"obfuscation":"${at}",`) : data))
  expect(read((data) => data)).toEqual(varied)
})

test('a run ends before the first event that must be parsed, and begins nowhere else', () => {
  const chunks = textChunks()
  const frame = (content: string) => `data: ${chunk(content)}\n\n`
  expect(chunks.runIn(frame('one'), 0)).toBeUndefined()
  chunks.learn(chunk('one'))
  const alike = frame(' two') + frame(' three')
  for (const other of [frame('"four"'), frame('four').trimEnd(), frame(''), ': comment\n\n', 'data: [DONE]\n\n']) {
    expect(chunks.runIn(`x${alike}${other}${alike}`, 1)).toEqual({ frames: alike, text: ' two three' })
    expect(chunks.runIn(other + alike, 0)).toBeUndefined()
  }
})
