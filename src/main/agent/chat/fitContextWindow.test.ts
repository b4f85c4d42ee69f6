import { expect, test } from 'vitest'
import { fitContextWindow } from './fitContextWindow.ts'
import type { MessageWeight } from './messageRepository.ts'

const weights = (count: number, more: Partial<MessageWeight> = {}): MessageWeight[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    position: index + 1,
    role: index % 2 === 0 ? 'user' : 'assistant',
    tokens: 96,
    bytes: 400,
    images: 0,
    image_bytes: 0,
    ...more,
  }))
const system = { bytes: 40, tokens: 10 }
const budget = { contextWindow: 100_000, outputTokens: 1_000 }

test('sends the whole branch if it fits', () => {
  expect(fitContextWindow(weights(5), system, budget)).toEqual({
    messages: [1, 2, 3, 4, 5],
    omitted: 0,
    defaultTokens: 514,
    maxTokens: 5 * 464 + 128 + 40,
  })
})

test('drops the oldest messages if needed and starts at a user message', () => {
  const context = fitContextWindow(weights(101), system, { contextWindow: 2_100, outputTokens: 1_000 })
  expect(context?.messages).toEqual([93, 94, 95, 96, 97, 98, 99, 100, 101])
  expect(context?.omitted).toBe(92)
})

test('reserves at most half of a small context for output', () => {
  expect(fitContextWindow(weights(3), system, { contextWindow: 1_000, outputTokens: 16_000 })?.omitted).toBe(0)
})

test('drops the oldest messages when their images exceed the request limit', () => {
  const context = fitContextWindow(weights(5, { images: 1, image_bytes: 8 * 1024 ** 2 }), system, budget)
  expect(context?.messages).toEqual([5])
})

test('sends nothing if the last message does not fit', () => {
  expect(fitContextWindow(weights(1, { tokens: 100_000 }), system, budget)).toBeUndefined()
  expect(fitContextWindow(weights(1, { image_bytes: 40 * 1024 ** 2 }), system, budget)).toBeUndefined()
  expect(fitContextWindow(weights(3), { bytes: 1, tokens: 200_000 }, budget)).toBeUndefined()
})

test('sends a branch that starts with an assistant message', () => {
  expect(fitContextWindow(weights(3).slice(1), system, budget)?.messages).toEqual([2, 3])
})
