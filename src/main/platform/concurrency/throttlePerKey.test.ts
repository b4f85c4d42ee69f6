import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createThrottlePerKey } from './throttlePerKey.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('reports the first event immediately, then one per second while more follow', () => {
  const reported: string[] = []
  const events = createThrottlePerKey((key: string) => reported.push(key))
  for (let index = 0; index < 5; index += 1) events.mark('loud')
  events.mark('other')
  expect(reported).toEqual(['loud', 'other'])
  vi.advanceTimersByTime(1_000)
  expect(reported).toEqual(['loud', 'other', 'loud'])
  vi.advanceTimersByTime(5_000)
  expect(reported).toHaveLength(3)
  events.mark('loud')
  expect(reported).toHaveLength(4)
})

test('reports nothing after a key is removed', () => {
  const reported: string[] = []
  const events = createThrottlePerKey((key: string) => reported.push(key))
  events.mark('loud')
  events.mark('loud')
  events.forget('loud')
  vi.advanceTimersByTime(10_000)
  expect(reported).toEqual(['loud'])
  expect(vi.getTimerCount()).toBe(0)
})
