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

test('sends the first byte after a pause immediately', () => {
  rounds.touch(1)
  expect(flushes).toBe(1)
  vi.runAllTimers()
  rounds.touch(1)
  expect(flushes).toBe(2)
})

test('sends closely following output together and always flushes it', () => {
  for (let n = 0; n < 100; n++) rounds.touch(10)
  expect(flushes).toBe(1)
  vi.runAllTimers()
  expect(flushes).toBe(2)
})

test('sends a flood in fewer larger runs without delaying small output after it', () => {
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

test('does not delay large output', () => {
  for (let n = 0; n < 100; n++) rounds.touch(4096)
  expect(flushes).toBeGreaterThan(4)
  expect(flushes).toBeLessThan(15)
})
