import { expect, test } from 'vitest'
import { assertTransition } from './settlementStates.ts'

const changing = (from: Parameters<typeof assertTransition>[1], to: Parameters<typeof assertTransition>[2]) => () =>
  assertTransition('pay_1', from, to)

test('allows the path of a payment whose outcome becomes known later', () => {
  expect(changing({ state: 'verifying', work: 'none' }, { state: 'settling' })).not.toThrow()
  expect(changing({ state: 'settling', work: 'none' }, { state: 'unknown' })).not.toThrow()
  expect(changing({ state: 'unknown', work: 'none' }, { state: 'unknown' })).not.toThrow()
  expect(changing({ state: 'unknown', work: 'none' }, { state: 'settled', work: 'waiting' })).not.toThrow()
  expect(changing({ state: 'settled', work: 'waiting' }, { work: 'begun' })).not.toThrow()
  expect(changing({ state: 'settled', work: 'begun' }, { work: 'done' })).not.toThrow()
})

test('rejects changes of a final outcome, work before settlement and a settlement without verification', () => {
  expect(changing({ state: 'settled', work: 'begun' }, { state: 'failed' })).toThrow('cannot change')
  expect(changing({ state: 'failed', work: 'none' }, { state: 'settling' })).toThrow('cannot change')
  expect(changing({ state: 'settled', work: 'done' }, { work: 'credited' })).toThrow('cannot change')
  expect(changing({ state: 'settling', work: 'none' }, { work: 'begun' })).toThrow('cannot change')
  expect(changing({ state: 'verifying', work: 'none' }, { state: 'settled', work: 'begun' })).toThrow('cannot change')
  expect(changing(undefined, { state: 'settling' })).toThrow('There is no payment pay_1.')
})
