import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newTerminalId } from '../../../../test/support/hostClient.ts'
import { nowAndThen } from './nowAndThen.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('tells the first at once, then once a second for as long as it goes on', () => {
  const told: string[] = []
  const [loud, other] = [newTerminalId(), newTerminalId()]
  const events = nowAndThen((id) => told.push(id))
  for (let index = 0; index < 5; index += 1) events.happened(loud)
  events.happened(other)
  expect(told).toEqual([loud, other])
  vi.advanceTimersByTime(1_000)
  expect(told).toEqual([loud, other, loud])
  vi.advanceTimersByTime(5_000)
  expect(told).toHaveLength(3)
  events.happened(loud)
  expect(told).toHaveLength(4)
})

test('a forgotten one is told nothing more of', () => {
  const told: string[] = []
  const id = newTerminalId()
  const events = nowAndThen((it) => told.push(it))
  events.happened(id)
  events.happened(id)
  events.forget(id)
  vi.advanceTimersByTime(10_000)
  expect(told).toEqual([id])
  expect(vi.getTimerCount()).toBe(0)
})
