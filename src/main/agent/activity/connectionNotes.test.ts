import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ConnectionState, LocalEvent } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'
import { recordConnections } from './connectionNotes.ts'

let tell: (state: ConnectionState) => void
let recorded: string[]
let notes: { close(): void }

beforeEach(() => {
  vi.useFakeTimers()
  recorded = []
  const { emit, subscribe } = createEmitter<LocalEvent>()
  const connection = { name: 'This computer', kind: 'embedded', url: 'http://127.0.0.1:1', detail: null } as const
  tell = (state) => {
    emit({ type: 'connection.changed', connection: { ...connection, state } })
  }
  notes = recordConnections({ link: { subscribe }, recordActivity: ({ kind }) => recorded.push(kind), awayMs: 1_000 })
})
afterEach(() => {
  notes.close()
  vi.useRealTimers()
})

test('records a connection to the service once', () => {
  for (const state of ['starting', 'unreachable', 'connected', 'connected'] as const) tell(state)
  expect(recorded).toEqual(['service.connected'])
})

test('records a lost connection after the delay and its recovery', () => {
  tell('connected')
  tell('unreachable')
  vi.advanceTimersByTime(999)
  expect(recorded).toEqual(['service.connected'])
  vi.advanceTimersByTime(1)
  tell('connected')
  expect(recorded).toEqual(['service.connected', 'service.lost', 'service.connected'])
})

test('records a wallet that stays signed out', () => {
  tell('connected')
  tell('unreachable')
  tell('signed-out')
  vi.advanceTimersByTime(1_000)
  tell('signed-out')
  tell('connected')
  expect(recorded).toEqual(['service.connected', 'service.signed-out', 'service.connected'])
})

test('does not record short interruptions', () => {
  tell('connected')
  for (let count = 0; count < 20; count += 1) {
    tell('unreachable')
    vi.advanceTimersByTime(900)
    tell('connected')
    vi.advanceTimersByTime(200)
  }
  expect(recorded).toEqual(['service.connected'])
})

test('records nothing after close', () => {
  tell('connected')
  tell('unreachable')
  notes.close()
  vi.advanceTimersByTime(5_000)
  expect(recorded).toEqual(['service.connected'])
})
