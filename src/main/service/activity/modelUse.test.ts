import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { createModelUse, type ModelCompletion } from './modelUse.ts'
import type { AccountEntry } from './recordedWrite.ts'

const accountId = AccountId.parse('a'.repeat(32))
let recorded: AccountEntry[]
let use: ReturnType<typeof createModelUse>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  recorded = []
  use = createModelUse({ recordForAccount: (_, note) => recorded.push(note) })
})
afterEach(() => {
  use.close()
  vi.useRealTimers()
})

const minuteMs = 60_000
const complete = (overrides: Partial<ModelCompletion> = {}) =>
  use.record({
    accountId,
    by: { kind: 'key', name: 'claude-code' },
    task: null,
    model: 'claude-opus-4.6',
    chargedMicroUsd: 20_000,
    ...overrides,
  })
const sentences = () => recorded.map(({ description }) => description)

test('records model use of a key soon, then once every five minutes', () => {
  for (let times = 0; times < 14; times += 1) complete()
  vi.advanceTimersByTime(10_000)
  expect(sentences()).toEqual(['Used claude-opus-4.6 14 times · $0.28.'])
  for (let minute = 0; minute < 5; minute += 1) {
    complete()
    vi.advanceTimersByTime(minuteMs)
  }
  expect(sentences().slice(1)).toEqual(['Used claude-opus-4.6 5 times · $0.10.'])
  vi.advanceTimersByTime(60 * minuteMs)
  expect(recorded).toHaveLength(2)
  expect(recorded[1]).toMatchObject({ type: 'models.used', chargedMicroUsd: 100_000 })
})

test('counts keys and models separately, and omits an amount of zero', () => {
  complete()
  complete({ by: { kind: 'key', name: 'codex' } })
  complete({ model: 'own-server/qwen', chargedMicroUsd: 0 })
  use.close()
  expect(sentences()).toEqual([
    ...['Used claude-opus-4.6 · $0.02.', 'Used claude-opus-4.6 · $0.02.', 'Used own-server/qwen.'],
  ])
  expect(recorded.map(({ origin }) => origin?.by.name)).toEqual(['claude-code', 'codex', 'claude-code'])
})

test('records a task completion immediately with its task but skips chat replies', () => {
  const origin = { by: { kind: 'agent', name: 'codex', via: 'owner' }, task: 'call:1' } as const
  complete(origin)
  expect(recorded).toMatchObject([{ description: 'Used claude-opus-4.6 · $0.02.', origin }])
  complete({ by: { kind: 'owner', name: null }, task: 'chat:msg_1' })
  complete({ by: { kind: 'chat', name: 'Chat “A”', via: 'owner' }, task: 'chat:msg_1' })
  use.close()
  expect(recorded).toHaveLength(2)
})

test('bounds the number of pending counters', () => {
  for (let index = 0; index < 1_500; index += 1) complete({ model: `model-${index}` })
  expect(recorded).toHaveLength(1_000)
})
