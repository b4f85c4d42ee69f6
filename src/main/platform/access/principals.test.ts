import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createPrincipals } from './principals.ts'

type Rights = { models: readonly string[] }

function openRegistry(now = () => 0) {
  const rights = new Map<string, Rights>([
    ['key:one', { models: ['a'] }],
    ['key:two', { models: ['b'] }],
  ])
  const principals = createPrincipals<Rights, 'request' | 'poll'>({
    getRights: (principal) => rights.get(principal),
    endedError: (principal) => new AppError('auth/invalid', `${principal} was revoked.`),
    now,
  })
  return { rights, principals }
}

test('ends every lease of one principal and none of another', () => {
  const { rights, principals } = openRegistry()
  const request = principals.lease('key:one', 'request')
  const poll = principals.lease('key:one', 'poll')
  const otherLease = principals.lease('key:two', 'request')
  const { signal } = request
  rights.delete('key:one')
  principals.end('key:one')
  expect([signal.aborted, poll.signal.aborted, otherLease.signal.aborted]).toEqual([true, true, false])
  expect(poll.signal.reason).toMatchObject({ code: 'auth/invalid', message: 'key:one was revoked.' })
  expect(() => request.may()).toThrow('key:one was revoked.')
  expect(otherLease.may()).toEqual({ models: ['b'] })
  expect(principals.count()).toEqual({ request: 1 })
})

test('reads rights at use time, not at creation', () => {
  const { rights, principals } = openRegistry()
  const lease = principals.lease('key:one', 'request')
  rights.set('key:one', { models: [] })
  expect(lease.may()).toEqual({ models: [] })
  rights.delete('key:one')
  expect(() => lease.may()).toThrow('key:one was revoked.')
})

test('a lease for an ended principal is already ended', () => {
  const { principals } = openRegistry()
  const lease = principals.lease('key:none', 'request')
  expect(lease.signal.aborted).toBe(true)
  expect(() => lease.may()).toThrow('key:none was revoked.')
  expect(principals.count()).toEqual({})
})

test('reconciliation ends absent principals', () => {
  const { rights, principals } = openRegistry()
  const [first, two] = [principals.lease('key:one', 'poll'), principals.lease('key:two', 'poll')]
  rights.delete('key:two')
  principals.endAbsent()
  expect([first.signal.aborted, two.signal.aborted]).toEqual([false, true])
})

test('a released lease is not ended and holds no resources', () => {
  const { principals } = openRegistry()
  const lease = principals.lease('key:one', 'request')
  lease.release()
  lease.release()
  principals.end('key:one')
  expect(lease.signal.aborted).toBe(false)
  expect(principals.count()).toEqual({})
})

test('reconciliation ends expired leases of a present principal', () => {
  let nowMs = 0
  const { principals } = openRegistry(() => nowMs)
  const socket = principals.lease('key:one', 'poll', { expiresAtMs: 10 })
  const request = principals.lease('key:one', 'request')
  principals.endAbsent()
  expect(socket.error).toBeUndefined()
  nowMs = 10
  principals.endAbsent()
  expect([socket.error?.message, request.error]).toEqual(['key:one was revoked.', undefined])
  expect(principals.lease('key:one', 'poll', { expiresAtMs: 10 }).error?.code).toBe('auth/invalid')
  expect(principals.count()).toEqual({ request: 1 })
})

test('notifies each lease once, and an error does not stop the others', () => {
  const { principals } = openRegistry()
  const reasons: string[] = []
  principals.lease('key:one', 'request', {
    onEnd() {
      throw new Error('It cannot end.')
    },
  })
  const poll = principals.lease('key:one', 'poll', { onEnd: ({ message }) => reasons.push(message) })
  expect(() => principals.end('key:one')).toThrow('Work of key:one is still running.')
  principals.end('key:one')
  expect(reasons).toEqual(['key:one was revoked.'])
  expect(poll.signal.aborted).toBe(true)
})

test('reconciliation continues after work that fails to end', () => {
  const { rights, principals } = openRegistry()
  principals.lease('key:one', 'poll', {
    onEnd() {
      throw new Error('broken')
    },
  })
  const two = principals.lease('key:two', 'poll')
  rights.clear()
  expect(() => principals.endAbsent()).toThrow('Work of absent principals is still running.')
  expect(two.signal.aborted).toBe(true)
})
