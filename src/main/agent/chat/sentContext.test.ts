import { expect, test } from 'vitest'
import type { MessageWeight } from './messageRepository.ts'
import { sentContext } from './sentContext.ts'

const weights = (count: number, more: Partial<MessageWeight> = {}): MessageWeight[] =>
  Array.from({ length: count }, (_, at) => ({
    number: at + 1,
    position: at + 1,
    role: at % 2 === 0 ? 'user' : 'assistant',
    tokens: 96,
    bytes: 400,
    images: 0,
    image_bytes: 0,
    ...more,
  }))
const system = { bytes: 40, tokens: 10 }
const room = { contextWindow: 100_000, outputTokens: 1_000 }

test('all of a branch is sent where it fits', () => {
  expect(sentContext(weights(5), system, room)).toEqual({
    messages: [1, 2, 3, 4, 5],
    omitted: 0,
    usualTokens: 514,
    mostTokens: 5 * 464 + 128 + 40,
  })
})

test('the oldest are left out where it does not fit, beginning with a message of the person', () => {
  const sent = sentContext(weights(101), system, { contextWindow: 2_100, outputTokens: 1_000 })
  expect(sent?.messages).toEqual([93, 94, 95, 96, 97, 98, 99, 100, 101])
  expect(sent?.omitted).toBe(92)
})

test('the output takes at most half of a small context', () => {
  expect(sentContext(weights(3), system, { contextWindow: 1_000, outputTokens: 16_000 })?.omitted).toBe(0)
})

test('images that the service would not take in one request go with the oldest messages', () => {
  const sent = sentContext(weights(5, { images: 1, image_bytes: 8 * 1024 ** 2 }), system, room)
  expect(sent?.messages).toEqual([5])
})

test('a last message that does not fit is not sent at all', () => {
  expect(sentContext(weights(1, { tokens: 100_000 }), system, room)).toBeUndefined()
  expect(sentContext(weights(1, { image_bytes: 40 * 1024 ** 2 }), system, room)).toBeUndefined()
  expect(sentContext(weights(3), { bytes: 1, tokens: 200_000 }, room)).toBeUndefined()
})

test('a branch that begins with an answer is sent from there', () => {
  expect(sentContext(weights(3).slice(1), system, room)?.messages).toEqual([2, 3])
})
