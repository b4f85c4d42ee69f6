import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import { newSandboxId, newTerminalId } from '#test/support/hostClient.ts'
import { type ChangeEvents, changeEvents } from './changeEvents.ts'

const record: TerminalRecord = {
  id: newTerminalId(),
  sandboxId: newSandboxId(),
  command: 'bash',
  cols: 80,
  rows: 24,
  state: 'running',
  createdAtMs: 0,
  name: null,
  title: null,
  process: null,
  exitCode: null,
  signal: null,
  exitedAtMs: null,
  endedWithMachine: false,
}
let told: TerminalRecord[]
let events: ChangeEvents

beforeEach(() => {
  vi.useFakeTimers()
  told = []
  events = changeEvents((it) => told.push(it))
})

afterEach(() => {
  events.close()
  vi.useRealTimers()
})

test('the first change is told at once, many titles as one, the last', () => {
  events.changed(record)
  for (let n = 0; n < 100; n++) events.changed({ ...record, title: `title ${n}` })
  expect(told).toEqual([record])
  vi.advanceTimersByTime(10_000)
  expect(told.map(({ title }) => title)).toEqual([null, 'title 99'])
})

test('the end is told at once, also amid titles, and nothing old after it', () => {
  events.changed(record)
  events.changed({ ...record, title: 'late' })
  events.changed({ ...record, title: 'late', state: 'exited' })
  expect(told.map(({ state }) => state)).toEqual(['running', 'exited'])
  vi.advanceTimersByTime(10_000)
  expect(told).toHaveLength(2)
})

test('of a terminal that was removed nothing more is told', () => {
  events.changed(record)
  events.changed({ ...record, title: 'x' })
  events.forget(record.id)
  vi.advanceTimersByTime(10_000)
  expect(told).toEqual([record])
})
