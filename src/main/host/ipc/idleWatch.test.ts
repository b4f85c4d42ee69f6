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

test('reports idle after a period without sandboxes and connections', () => {
  vi.advanceTimersByTime(999)
  expect(idle).toBe(0)
  vi.advanceTimersByTime(1)
  expect(idle).toBe(1)
})

test('a sandbox or connection prevents idle and restarts the period when it ends', () => {
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

test('does not fire after close', () => {
  watch.close()
  vi.advanceTimersByTime(5_000)
  expect(idle).toBe(0)
})
