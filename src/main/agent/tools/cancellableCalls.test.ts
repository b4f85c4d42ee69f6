import { expect, test } from 'vitest'
import { createCancellableCalls } from './cancellableCalls.ts'

const { signal: never } = new AbortController()

test('only the client of a call may cancel it', () => {
  const calls = createCancellableCalls()
  const { signal } = calls.begin('one', 1, never)
  calls.cancel('other', 1)
  calls.cancel('one', 2)
  calls.cancel('one', '1')
  expect(signal.aborted).toBe(false)
  calls.cancel('one', 1)
  expect(signal.aborted).toBe(true)
})

test('a cancellation is ignored while two programs share the same call id', () => {
  const calls = createCancellableCalls()
  const [first, second] = [calls.begin('one', 0, never), calls.begin('one', 0, never)]
  calls.cancel('one', 0)
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false])
  first.end()
  calls.cancel('one', 0)
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true])
})

test.each(['before', 'meanwhile'])('ends with its connection, closed %s', (when) => {
  const leaving = new AbortController()
  if (when === 'before') leaving.abort()
  const { signal } = createCancellableCalls().begin('one', 1, leaving.signal)
  leaving.abort()
  expect(signal.aborted).toBe(true)
})

test('an id is free again after its call has ended', () => {
  const calls = createCancellableCalls()
  const first = calls.begin('one', 1, never)
  first.end()
  const { signal } = calls.begin('one', 1, never)
  calls.cancel('one', 1)
  expect([first.signal.aborted, signal.aborted]).toEqual([false, true])
})
