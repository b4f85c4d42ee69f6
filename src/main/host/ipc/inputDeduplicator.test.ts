import { expect, test } from 'vitest'
import { createInputDeduplicator } from './inputDeduplicator.ts'

test('repeated input of a writer is not new', () => {
  const typed = createInputDeduplicator()
  const news = [1, 2, 1, 2, 3].map((seq) => typed.isNew({ writer: 'ada', seq }))
  expect(news).toEqual([true, true, false, false, true])
})

test('writers have separate sequence numbers and input without one is always new', () => {
  const typed = createInputDeduplicator()
  expect(typed.isNew({ writer: 'ada', seq: 5 })).toBe(true)
  expect(typed.isNew({ writer: 'bob', seq: 1 })).toBe(true)
  expect(typed.isNew({})).toBe(true)
  expect(typed.isNew({})).toBe(true)
})

test('evicts only the least recently active writer', () => {
  const typed = createInputDeduplicator()
  typed.isNew({ writer: 'first', seq: 1 })
  typed.isNew({ writer: 'second', seq: 1 })
  for (let index = 0; index < 254; index += 1) typed.isNew({ writer: `other ${index}`, seq: 1 })
  expect(typed.isNew({ writer: 'first', seq: 1 })).toBe(false)
  typed.isNew({ writer: 'one more', seq: 1 })
  expect(typed.isNew({ writer: 'first', seq: 1 })).toBe(false)
  expect(typed.isNew({ writer: 'second', seq: 1 })).toBe(true)
})
