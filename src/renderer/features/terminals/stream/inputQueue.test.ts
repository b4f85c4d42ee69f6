import { expect, test } from 'vitest'
import { createInputQueue, maxQueuedBytes, splitInput } from './inputQueue.ts'

const countBytes = (text: string) => Buffer.byteLength(text)

test('joins input typed since the last message', () => {
  const queue = createInputQueue()
  for (const key of ['l', 's', '\r']) queue.add(key, Number.POSITIVE_INFINITY)
  expect(queue.take()).toEqual(['ls\r'])
  expect(queue.take()).toEqual([])
})

test('splits a large paste into ordered chunks of at most 64 KiB', () => {
  const paste = 'añ→😀'.repeat(60_000)
  const pieces = splitInput(paste)
  expect(pieces.length).toBeGreaterThan(1)
  expect(Math.max(...pieces.map(countBytes))).toBeLessThanOrEqual(64 * 1024)
  expect(pieces.join('')).toBe(paste)
})

test('never splits a character between chunks', () => {
  for (const lead of ['', 'a', 'ab']) {
    for (const piece of splitInput(lead + '😀'.repeat(50_000))) {
      expect(Buffer.from(piece).toString()).toBe(piece)
    }
  }
})

test('rejects input beyond the limit as a whole and preserves queued input', () => {
  const queue = createInputQueue()
  expect(queue.add('x'.repeat(maxQueuedBytes - 1), maxQueuedBytes)).toBe(true)
  expect(queue.add('→', maxQueuedBytes)).toBe(false)
  expect(queue.waitingBytes).toBe(maxQueuedBytes - 1)
  expect(queue.add('y', maxQueuedBytes)).toBe(true)
  expect(queue.take().join('')).toBe(`${'x'.repeat(maxQueuedBytes - 1)}y`)
  expect(queue.waitingBytes).toBe(0)
})
