import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createIdleWatch, type IdleWatch } from './idleWatch.ts'

let idle: number
let watch: IdleWatch

beforeEach(() => {
  vi.useFakeTimers()
  idle = 0
  watch = createIdleWatch({ ms: 1_000, onIdle: () => idle++ })
})

afterEach(() => {
  watch.close()
  vi.useRealTimers()
})

test('it is idle when for a while no machine ran and nobody was connected', () => {
  vi.advanceTimersByTime(999)
  expect(idle).toBe(0)
  vi.advanceTimersByTime(1)
  expect(idle).toBe(1)
})

test('a machine or a connection keeps it, and the time begins anew when the last has gone', () => {
  watch.connections(1)
  watch.machines(1)
  watch.connections(0)
  vi.advanceTimersByTime(5_000)
  expect(idle).toBe(0)
  watch.machines(0)
  vi.advanceTimersByTime(999)
  expect(idle).toBe(0)
  vi.advanceTimersByTime(1)
  expect(idle).toBe(1)
})

test('closed, it never fires', () => {
  watch.close()
  vi.advanceTimersByTime(5_000)
  expect(idle).toBe(0)
})
