import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import { newSandboxId, newTerminalId } from '#test/support/clients/hostClient.ts'
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

test('reports the first change immediately and combines many titles into the last', () => {
  events.recordChange(record)
  for (let n = 0; n < 100; n++) events.recordChange({ ...record, title: `title ${n}` })
  expect(records).toEqual([record])
  vi.advanceTimersByTime(10_000)
  expect(records.map(({ title }) => title)).toEqual([null, 'title 99'])
})

test('reports the exit immediately amid titles and nothing older after it', () => {
  events.recordChange(record)
  events.recordChange({ ...record, title: 'late' })
  events.recordChange({ ...record, title: 'late', state: 'exited' })
  expect(records.map(({ state }) => state)).toEqual(['running', 'exited'])
  vi.advanceTimersByTime(10_000)
  expect(records).toHaveLength(2)
})

test('reports nothing for a removed terminal', () => {
  events.recordChange(record)
  events.recordChange({ ...record, title: 'x' })
  events.forget(record.id)
  vi.advanceTimersByTime(10_000)
  expect(records).toEqual([record])
})
