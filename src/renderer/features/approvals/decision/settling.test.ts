import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decisionDelayMs, watchSettling } from './settling.ts'

let results: boolean[]
let settle: ReturnType<typeof watchSettling>

beforeEach(() => {
  vi.useFakeTimers()
  results = []
  settle = watchSettling((settled) => results.push(settled))
})
afterEach(() => {
  vi.useRealTimers()
})

test('settles only after a delay without disturbance', () => {
  settle.disturb()
  vi.advanceTimersByTime(decisionDelayMs - 1)
  settle.disturb()
  vi.advanceTimersByTime(decisionDelayMs - 1)
  expect(results).toEqual([false, false])
  vi.advanceTimersByTime(1)
  expect(results).toEqual([false, false, true])
})

test('reports nothing after it ends', () => {
  settle.disturb()
  settle.end()
  vi.advanceTimersByTime(decisionDelayMs * 2)
  expect(results).toEqual([false])
})
