import { expect, test } from 'vitest'
import { createToolCallAccumulator } from './toolCallAccumulator.ts'

const large = 'x'.repeat(900_000)

test.each<[string, (gathered: ReturnType<typeof createToolCallAccumulator>) => void]>([
  [
    'reasoning details',
    (accumulator) => accumulator.carry({ reasoning_details: [{ type: 'reasoning.encrypted', data: large }] }),
  ],
  ['extra content', (accumulator) => accumulator.carry({ extra_content: { google: { thought_signature: large } } })],
  [
    'extra content of calls',
    (accumulator) => accumulator.add({ index: 0, name: '', arguments: '', extra: { google: large } }),
  ],
  ['arguments', (it) => it.add({ index: 0, name: '', arguments: large, extra: undefined })],
])('%s of a model count towards one limit', (_, add) => {
  const gathered = createToolCallAccumulator()
  for (let index = 0; index < 4; index += 1) add(gathered)
  expect(() => add(gathered)).toThrow(expect.objectContaining({ code: 'inference/upstream' }))
})

test('stores provider details unchanged', () => {
  const gathered = createToolCallAccumulator()
  gathered.carry({ reasoning_details: [{ type: 'reasoning.text', text: 'a' }] })
  gathered.carry({ reasoning_details: [{ type: 'reasoning.text', text: 'b' }], extra_content: { a: 1 } })
  expect(gathered.readProviderState()).toEqual({
    reasoning_details: [
      { type: 'reasoning.text', text: 'a' },
      { type: 'reasoning.text', text: 'b' },
    ],
    extra_content: { a: 1 },
  })
})
