import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type FlushRounds, flushRounds } from './flushRounds.ts'

let flushes: number
let rounds: FlushRounds

beforeEach(() => {
  vi.useFakeTimers()
  flushes = 0
  rounds = flushRounds(() => flushes++)
})

afterEach(() => {
  rounds.close()
  vi.useRealTimers()
})

test('the first byte after a pause goes at once', () => {
  rounds.touch(1)
  expect(flushes).toBe(1)
  vi.runAllTimers()
  rounds.touch(1)
  expect(flushes).toBe(2)
})

test('what follows closely goes together, and is never left behind', () => {
  for (let n = 0; n < 100; n++) rounds.touch(10)
  expect(flushes).toBe(1)
  vi.runAllTimers()
  expect(flushes).toBe(2)
})

test('much does not wait', () => {
  for (let n = 0; n < 100; n++) rounds.touch(4096)
  expect(flushes).toBeGreaterThan(4)
  expect(flushes).toBeLessThan(15)
})
