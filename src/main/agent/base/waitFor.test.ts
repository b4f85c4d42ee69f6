import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createEmitter } from '#shared/emitter.ts'
import { waitFor } from './waitFor.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const waitMs = 1_000
const changes = createEmitter()

test('ends at the first change', async () => {
  const waiting = waitFor(changes.subscribe, { waitMs, signals: [undefined] })
  changes.emit()
  await waiting
  expect(vi.getTimerCount()).toBe(0)
})

test('ends at the time limit', async () => {
  const done = vi.fn()
  void waitFor(changes.subscribe, { waitMs, signals: [] }).then(done)
  await vi.advanceTimersByTimeAsync(waitMs - 1)
  expect(done).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(done).toHaveBeenCalledOnce()
})

test('ends at the first aborted signal, and does not begin with one', async () => {
  const controller = new AbortController()
  const waiting = waitFor(changes.subscribe, { waitMs, signals: [undefined, controller.signal] })
  controller.abort()
  await waiting
  await waitFor(changes.subscribe, { waitMs, signals: [controller.signal] })
  expect(vi.getTimerCount()).toBe(0)
})
