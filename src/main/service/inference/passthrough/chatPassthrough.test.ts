import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextChunks } from '../upstreams/textChunks.ts'
import { chatPassthrough } from './chatPassthrough.ts'

const meta = { id: 'chatcmpl-own', model: 'own', createdSeconds: 1, requestBody: {} }
const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', service_tier: '$& $1' },
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    ...more,
  })
const event = (data: string) => ({ event: undefined, data })
const frames = (texts: readonly string[]) => texts.map((content) => `data: ${chunk({ content })}\n\n`).join('')
const begun = (...datas: readonly string[]) => {
  const relay = chatPassthrough.relay(meta)
  for (const data of datas) relay.push(event(data))
  return relay
}
const expected = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'one' })]

test('relays a run of chunks like the chunks one by one', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('data: {', '$&', '$`', ',"delta'),
  )
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (texts) => {
      const chunks = createTextChunks()
      chunks.learn(chunk({ content: 'one' }))
      const run = chunks.runIn(frames(texts), 0)
      if (!run) return
      const [together, apart] = [begun(...expected), begun(...expected)]
      const events = texts.slice(0, run.frames.split('\n\n').length - 1)
      expect(together.pushRun?.(run.frames)).toBe(
        events.map((content) => apart.push(event(chunk({ content })))).join(''),
      )
      expect(run.text).toBe(events.join(''))
    }),
  )
})

test.each([
  ['nothing yet', []],
  ['how chunks begin', expected.slice(0, 1)],
  ['chunks of another form', [chunk({ role: 'assistant' }, { x: 1 }), chunk({ content: 'one' }, { x: 1 })]],
])('relays a whole run when the relay has seen %s', (_, datas) => {
  const run = frames(['one', ' two', ' three'])
  const output = begun(...datas).pushRun?.(run) ?? ''
  const contents = output
    .split('\n\n')
    .slice(0, -1)
    .map((part) => JSON.parse(part.slice('data: '.length)))
  expect(contents.map((it) => it.choices[0].delta.content)).toEqual(['one', ' two', ' three'])
  expect(contents.map((it) => it.id)).toEqual(Array(3).fill(meta.id))
})
