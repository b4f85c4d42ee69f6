import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFlushRounds, type FlushRounds } from './flushRounds.ts'

let flushes: number
let rounds: FlushRounds

beforeEach(() => {
  vi.useFakeTimers()
  flushes = 0
  rounds = createFlushRounds(() => flushes++)
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

test('a flood goes in fewer, larger runs, and little after it waits no longer than before', () => {
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 10; n++) rounds.touch(16 * 1024)
    vi.advanceTimersByTime(1)
  }
  expect(flushes).toBeLessThan(16)
  vi.runAllTimers()
  const before = flushes
  rounds.touch(1)
  rounds.touch(1)
  vi.advanceTimersByTime(1)
  expect(flushes).toBe(before + 2)
})

test('much does not wait', () => {
  for (let n = 0; n < 100; n++) rounds.touch(4096)
  expect(flushes).toBeGreaterThan(4)
  expect(flushes).toBeLessThan(15)
})
