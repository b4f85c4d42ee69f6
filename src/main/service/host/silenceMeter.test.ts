import { expect, test } from 'vitest'
import { createSilenceMeter, type SilenceCheck } from './silenceMeter.ts'

const look = (ms: number, changes: Partial<SilenceCheck> = {}): SilenceCheck => ({
  monotonicMs: ms,
  bootMs: ms,
  isStopped: false,
  ...changes,
})

function createMeter() {
  return createSilenceMeter({ maxSilentMs: 3_000, intervalMs: 1_000 })
}

test('expires after the whole time without a reply', () => {
  const meter = createMeter()
  expect([0, 1_000, 2_000, 3_000].map((ms) => meter.look(look(ms)))).toEqual([false, false, false, true])
})

test('a response resets the silence', () => {
  const meter = createMeter()
  for (const ms of [0, 1_000, 2_000]) meter.look(look(ms))
  meter.recordAnswer()
  expect([3_000, 4_000, 5_000, 6_000].map((ms) => meter.look(look(ms)))).toEqual([false, false, false, true])
})

test('counts a late check as two intervals because the watcher did not run', () => {
  const meter = createMeter()
  expect([0, 60_000, 61_000].map((ms) => meter.look(look(ms)))).toEqual([false, false, true])
})

test('a suspend resets the silence', () => {
  const meter = createMeter()
  for (const ms of [0, 1_000, 2_000]) meter.look(look(ms))
  expect(meter.look(look(3_000, { bootMs: 8 * 3_600_000 }))).toBe(false)
})

test('does not count a process stopped by a signal as silent', () => {
  const meter = createMeter()
  const looks = Array.from({ length: 100 }, (_, index) => meter.look(look(index * 1_000, { isStopped: true })))
  expect(looks).not.toContain(true)
  expect([100_000, 101_000, 102_000].map((ms) => meter.look(look(ms)))).toEqual([false, false, true])
})
