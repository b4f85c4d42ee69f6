import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { releaseIdleMemory } from './releaseIdleMemory.ts'

const megabyte = 1024 ** 2
const intervalMs = 10_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function createProcess() {
  const usage = { cpuMs: 600, residentBytes: 120 * megabyte }
  let count = 0
  const collect = (): void => {
    count += 1
    usage.cpuMs += 50
    usage.residentBytes = 100 * megabyte
  }
  const { close } = releaseIdleMemory({ collect, readUsage: () => ({ ...usage }) })
  return { usage, close, collections: () => count }
}

test('releases startup memory once at the first idle interval', () => {
  const { usage, close, collections } = createProcess()
  usage.cpuMs += 500
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(0) // busy
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(1)
  vi.advanceTimersByTime(10 * intervalMs)
  expect(collections()).toBe(1)
  close()
})

test('releases memory of later work after it ends', () => {
  const { usage, close, collections } = createProcess()
  vi.advanceTimersByTime(intervalMs)
  usage.residentBytes += 7 * megabyte
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(1)
  usage.residentBytes += 100 * megabyte
  usage.cpuMs += 5_000
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(1)
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(2)
  close()
})

test('collects nothing after close or without an exposed garbage collector', () => {
  const { close, collections } = createProcess()
  close()
  vi.advanceTimersByTime(intervalMs)
  expect(collections()).toBe(0)
  releaseIdleMemory({ collect: undefined }).close()
})
