import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clock, type ClockJump, type ClockState, openClock } from './clock.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const startMs = Date.UTC(2026, 0, 10)

let wallMs: number
let runningMs: number
let uptimeMs: number
let bootId: string | undefined
let state: ClockState | undefined
let jumps: ClockJump[]
let clock: Clock

beforeEach(() => {
  wallMs = startMs
  runningMs = 1_000
  uptimeMs = 1_000
  bootId = 'boot-1'
  state = undefined
  jumps = []
  open()
})
afterEach(() => clock.close())

function open(): void {
  clock = openClock({
    source: { wallMs: () => wallMs, runningMs: () => runningMs, uptimeMs: () => uptimeMs, bootId },
    store: {
      read: () => state,
      write(next) {
        state = next
      },
    },
    onJump: (jump) => jumps.push(jump),
    intervalMs: 2 ** 30,
  })
}

function run(ms: number, checks = 1): void {
  for (let index = 0; index < checks; index++) {
    wallMs += ms / checks
    runningMs += ms / checks
    uptimeMs += ms / checks
    clock.passedMs() // reads the clock, as the interval does
  }
}
function sleep(ms: number): void {
  wallMs += ms
  uptimeMs += ms
}
/** Runs in hourly steps for more than a day. */
const runLong = () => run(dayMs + hourMs, 25)

test('follows the wall clock and its drift without jumps', () => {
  run(10 * dayMs, 240)
  for (let index = 0; index < 1_000; index++) {
    wallMs += 40 // NTP corrects a slow clock
    run(10_000)
  }
  expect([clock.now(), clock.steadyMs(), clock.latestMs()]).toEqual([wallMs, wallMs, wallMs])
  expect(jumps).toEqual([])
})

test('reports a set clock and accepts it after a day of running time', () => {
  run(hourMs)
  wallMs += yearMs
  expect(clock.steadyMs()).toBe(startMs + hourMs)
  run(60_000)
  expect(clock.steadyMs()).toBe(startMs + hourMs + 60_000)
  expect(jumps).toEqual([{ fromMs: startMs + hourMs, toMs: startMs + hourMs + yearMs, cause: 'set' }])
  run(dayMs - hourMs, 23)
  expect(clock.steadyMs()).toBeLessThan(startMs + 2 * dayMs)
  run(2 * hourMs)
  expect(clock.steadyMs()).toBe(wallMs)
})

test('returns whole milliseconds while the wall clock is not trusted', () => {
  runningMs += 0.4
  wallMs += yearMs
  run(60_000.3)
  wallMs = Math.floor(wallMs)
  expect([clock.steadyMs(), clock.passedMs()].every(Number.isSafeInteger)).toBe(true)
  expect(clock.steadyMs()).toBe(startMs + 60_000)
})

test('discards a jump that is reverted', () => {
  wallMs += yearMs
  run(60_000)
  wallMs -= yearMs
  run(1_000)
  expect(jumps).toHaveLength(2)
  expect(clock.steadyMs()).toBe(wallMs)
  runLong()
  expect([clock.steadyMs(), clock.latestMs()]).toEqual([wallMs, wallMs])
})

test('reports sleep as a jump and includes the time asleep', () => {
  run(hourMs)
  sleep(8 * hourMs)
  expect(clock.steadyMs()).toBe(wallMs)
  clock.check()
  expect(jumps).toEqual([{ fromMs: startMs + hourMs, toMs: startMs + 9 * hourMs, cause: 'sleep' }])
  expect(clock.runningMs()).toBe(1_000 + hourMs)
})

test('distinguishes sleep from a clock that was set meanwhile', () => {
  sleep(8 * hourMs)
  wallMs += yearMs
  clock.check()
  expect(jumps.map(({ cause }) => cause)).toEqual(['sleep', 'set'])
  expect(clock.steadyMs()).toBe(startMs + 8 * hourMs)
})

test('does not revive a credential when the clock is set back', () => {
  run(hourMs)
  wallMs -= yearMs
  expect(clock.latestMs()).toBe(startMs + hourMs)
  expect(clock.now()).toBe(startMs + hourMs - yearMs)
})

test('counts time for deletions only when readings a day of running time apart agree', () => {
  expect(clock.passedMs()).toBe(0)
  runLong()
  const before = clock.passedMs()
  expect(before).toBeGreaterThanOrEqual(startMs)
  expect(before).toBeLessThanOrEqual(wallMs - dayMs)
  wallMs += yearMs
  run(60_000)
  expect(clock.passedMs()).toBeLessThan(startMs + 3 * hourMs)
  wallMs -= yearMs
  run(dayMs, 24)
  wallMs += yearMs // wrong again one day later
  run(60_000)
  expect(clock.passedMs()).toBeLessThan(startMs + 3 * dayMs)
  runLong()
  expect(clock.passedMs()).toBeGreaterThan(startMs + yearMs)
})

test('continues across a restart within one boot and detects a set clock', () => {
  run(hourMs)
  clock.close()
  wallMs += yearMs + 60_000
  runningMs += 60_000
  uptimeMs += 60_000
  open()
  expect(clock.steadyMs()).toBe(startMs + hourMs + 60_000)
  clock.passedMs()
  expect(jumps).toEqual([{ fromMs: startMs + hourMs + 60_000, toMs: wallMs, cause: 'set' }])
})

test('detects a jump right before process exit in the next process', () => {
  wallMs += yearMs
  clock.close()
  open()
  clock.passedMs()
  expect(jumps).toEqual([{ fromMs: startMs, toMs: startMs + yearMs, cause: 'set' }])
  expect(clock.steadyMs()).toBe(startMs)
})

test('counts running time across restarts and boots', () => {
  run(13 * hourMs, 13)
  clock.close()
  wallMs += 30 * dayMs // switched off
  ;[runningMs, uptimeMs, bootId] = [5_000, 5_000, 'boot-2']
  open()
  expect(clock.steadyMs()).toBe(wallMs)
  expect(jumps).toEqual([])
  expect(clock.passedMs()).toBe(0)
  run(12 * hourMs, 12)
  expect(clock.passedMs()).toBeGreaterThanOrEqual(startMs)
  expect(clock.passedMs()).toBeLessThan(startMs + 2 * hourMs)
})

test('accepts the correction of a clock that starts before its last reading', () => {
  run(hourMs)
  clock.close()
  wallMs = 0
  ;[runningMs, uptimeMs, bootId] = [5_000, 5_000, 'boot-2']
  open()
  expect(clock.steadyMs()).toBe(startMs + hourMs)
  wallMs = startMs + 5 * dayMs
  clock.check()
  expect(clock.steadyMs()).toBe(wallMs)
})

test('bounds its stored readings when the clock is set repeatedly', () => {
  for (let index = 0; index < 1_000; index++) {
    wallMs += index % 2 === 0 ? yearMs : -yearMs
    run(10_000)
  }
  clock.close()
  expect(state?.looks.length).toBeLessThanOrEqual(100)
})

test('notifies listeners until they unsubscribe', () => {
  const heard: ClockJump[] = []
  const unsubscribe = clock.onJump('requests', (jump) => heard.push(jump))
  wallMs += dayMs
  clock.check()
  unsubscribe()
  wallMs -= dayMs
  clock.check()
  expect(heard).toHaveLength(1)
})
