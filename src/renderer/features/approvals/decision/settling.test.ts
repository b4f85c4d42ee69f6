import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { settleMs, settling } from './settling.ts'

let told: boolean[]
let settle: ReturnType<typeof settling>

beforeEach(() => {
  vi.useFakeTimers()
  told = []
  settle = settling((settled) => told.push(settled))
})
afterEach(() => {
  vi.useRealTimers()
})

test('is settled only after a moment without any disturbance', () => {
  settle.disturb()
  vi.advanceTimersByTime(settleMs - 1)
  settle.disturb()
  vi.advanceTimersByTime(settleMs - 1)
  expect(told).toEqual([false, false])
  vi.advanceTimersByTime(1)
  expect(told).toEqual([false, false, true])
})

test('tells nothing after its end', () => {
  settle.disturb()
  settle.end()
  vi.advanceTimersByTime(settleMs * 2)
  expect(told).toEqual([false])
})
