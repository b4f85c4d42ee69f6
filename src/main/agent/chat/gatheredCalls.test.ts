import { expect, test } from 'vitest'
import { gatheredCalls } from './gatheredCalls.ts'

const large = 'x'.repeat(900_000)

test.each<[string, (gathered: ReturnType<typeof gatheredCalls>) => void]>([
  ['reasoning details', (it) => it.carry({ reasoning_details: [{ type: 'reasoning.encrypted', data: large }] })],
  ['extra content', (it) => it.carry({ extra_content: { google: { thought_signature: large } } })],
  ['extra content of calls', (it) => it.add({ index: 0, name: '', arguments: '', extra: { google: large } })],
  ['arguments', (it) => it.add({ index: 0, name: '', arguments: large, extra: undefined })],
])('%s of a model count into one bound', (_, add) => {
  const gathered = gatheredCalls()
  for (let at = 0; at < 4; at += 1) add(gathered)
  expect(() => add(gathered)).toThrow(expect.objectContaining({ code: 'inference/upstream' }))
})

test('stores provider details unchanged', () => {
  const gathered = gatheredCalls()
  gathered.carry({ reasoning_details: [{ type: 'reasoning.text', text: 'a' }] })
  gathered.carry({ reasoning_details: [{ type: 'reasoning.text', text: 'b' }], extra_content: { a: 1 } })
  expect(gathered.carried()).toEqual({
    reasoning_details: [
      { type: 'reasoning.text', text: 'a' },
      { type: 'reasoning.text', text: 'b' },
    ],
    extra_content: { a: 1 },
  })
})
