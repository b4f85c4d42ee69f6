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

test('all of a branch is sent where it fits', () => {
  expect(fitContextWindow(weights(5), system, budget)).toEqual({
    messages: [1, 2, 3, 4, 5],
    omitted: 0,
    defaultTokens: 514,
    maxTokens: 5 * 464 + 128 + 40,
  })
})

test('the oldest are left out where it does not fit, beginning with a message of the person', () => {
  const context = fitContextWindow(weights(101), system, { contextWindow: 2_100, outputTokens: 1_000 })
  expect(context?.messages).toEqual([93, 94, 95, 96, 97, 98, 99, 100, 101])
  expect(context?.omitted).toBe(92)
})

test('the output takes at most half of a small context', () => {
  expect(fitContextWindow(weights(3), system, { contextWindow: 1_000, outputTokens: 16_000 })?.omitted).toBe(0)
})

test('images that the service would not take in one request go with the oldest messages', () => {
  const context = fitContextWindow(weights(5, { images: 1, image_bytes: 8 * 1024 ** 2 }), system, budget)
  expect(context?.messages).toEqual([5])
})

test('a last message that does not fit is not sent at all', () => {
  expect(fitContextWindow(weights(1, { tokens: 100_000 }), system, budget)).toBeUndefined()
  expect(fitContextWindow(weights(1, { image_bytes: 40 * 1024 ** 2 }), system, budget)).toBeUndefined()
  expect(fitContextWindow(weights(3), { bytes: 1, tokens: 200_000 }, budget)).toBeUndefined()
})

test('a branch that begins with an answer is sent from there', () => {
  expect(fitContextWindow(weights(3).slice(1), system, budget)?.messages).toEqual([2, 3])
})
