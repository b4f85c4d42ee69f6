import { expect, test } from 'vitest'
import { createAttentionRequests } from './attentionRequests.ts'

const sandboxId = 'sb_1' as never
const call = (terminalId: string, text = '') => ({ sandboxId, terminalId: terminalId as never, text })

function opened({ inFront = true } = {}) {
  const window = { inFront, ms: 0 }
  const calls = createAttentionRequests({ isWindowInFront: () => window.inFront, now: () => window.ms })
  return { calls, window }
}

test('ignores requests of a visible terminal unless the window is in the background', () => {
  const { calls, window } = opened()
  calls.show(['t1'])
  expect(calls.called(call('t1', 'Look'))).toBe(false)
  expect(calls.called(call('t2', 'Look'))).toBe(true)
  expect(calls.list()).toEqual([call('t2', 'Look')])
  window.inFront = false
  expect(calls.called(call('t1', 'Look'))).toBe(true)
  window.inFront = true
  calls.looked()
  expect(calls.list()).toEqual([call('t2', 'Look')])
})

test('merges a thousand requests of a program into one with its last text', () => {
  const { calls } = opened()
  let changes = 0
  calls.subscribe(() => changes++)
  expect(calls.called(call('t1'))).toBe(true)
  for (let count = 0; count < 1_000; count++) expect(calls.called(call('t1'))).toBe(false)
  expect(calls.called(call('t1', 'Approve?'))).toBe(false)
  expect(calls.called(call('t1'))).toBe(false)
  expect(calls.list()).toEqual([call('t1', 'Approve?')])
  expect(changes).toBe(2)
})

test('ignores a bell that arrives just after its terminal was hidden', () => {
  const { calls, window } = opened()
  const leave = calls.show(['t1'])
  leave()
  window.ms = 1_000
  expect(calls.called(call('t1'))).toBe(false)
  expect(calls.called(call('t1', 'Approve?'))).toBe(true)
})

test('clears a request when its terminal is shown or ends', () => {
  const { calls } = opened()
  calls.called(call('t1'))
  calls.called(call('t2'))
  calls.called(call('t3'))
  calls.show(['t1'])
  calls.forget(({ terminalId }) => terminalId === call('t3').terminalId)
  expect(calls.list()).toEqual([call('t2')])
})
