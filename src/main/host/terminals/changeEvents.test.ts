import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import { newSandboxId, newTerminalId } from '#test/support/hostClient.ts'
import { type ChangeEvents, createChangeEvents } from './changeEvents.ts'

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
let records: TerminalRecord[]
let events: ChangeEvents

beforeEach(() => {
  vi.useFakeTimers()
  records = []
  events = createChangeEvents((it) => records.push(it))
})

afterEach(() => {
  events.close()
  vi.useRealTimers()
})

test('the first change is told at once, many titles as one, the last', () => {
  events.recordChange(record)
  for (let n = 0; n < 100; n++) events.recordChange({ ...record, title: `title ${n}` })
  expect(records).toEqual([record])
  vi.advanceTimersByTime(10_000)
  expect(records.map(({ title }) => title)).toEqual([null, 'title 99'])
})

test('the end is told at once, also amid titles, and nothing old after it', () => {
  events.recordChange(record)
  events.recordChange({ ...record, title: 'late' })
  events.recordChange({ ...record, title: 'late', state: 'exited' })
  expect(records.map(({ state }) => state)).toEqual(['running', 'exited'])
  vi.advanceTimersByTime(10_000)
  expect(records).toHaveLength(2)
})

test('of a terminal that was removed nothing more is told', () => {
  events.recordChange(record)
  events.recordChange({ ...record, title: 'x' })
  events.forget(record.id)
  vi.advanceTimersByTime(10_000)
  expect(records).toEqual([record])
})
