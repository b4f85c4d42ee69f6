import { expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { createResponseBudget } from './responseBudget.ts'

const [ada, bob] = [AccountId.parse('acct_1'), AccountId.parse('acct_2')]
const tooMany = expect.objectContaining({ code: 'request/rate', retryAfterSeconds: 2 })

test('bounds unread bytes per account and in total', () => {
  const budget = createResponseBudget({ maxBytesPerAccount: 100, maxBytes: 150 })
  budget.reserve(ada, 60)
  budget.reserve(ada, 40)
  expect(() => budget.reserve(ada, 1)).toThrow(tooMany)
  budget.reserve(bob, 50)
  expect(() => budget.reserve(bob, 1)).toThrow(tooMany)
})

test('releases reserved bytes only once', () => {
  const budget = createResponseBudget({ maxBytesPerAccount: 100, maxBytes: 100 })
  const release = budget.reserve(ada, 50)
  budget.reserve(ada, 50)
  release()
  release()
  budget.reserve(ada, 50)
  expect(() => budget.reserve(ada, 1)).toThrow(tooMany)
})

test('sends one response of any length', () => {
  const budget = createResponseBudget({ maxBytesPerAccount: 100, maxBytes: 1000 })
  const release = budget.reserve(ada, 500)
  expect(() => budget.reserve(ada, 1)).toThrow(tooMany)
  release()
  budget.reserve(ada, 1)
})

test('rejects new work only for an account above half its budget', () => {
  const budget = createResponseBudget({ maxBytesPerAccount: 100, maxBytes: 100 })
  budget.reserve(ada, 50)
  budget.assertCapacity(ada)
  const release = budget.reserve(ada, 1)
  expect(() => budget.assertCapacity(ada)).toThrow(tooMany)
  budget.assertCapacity(bob)
  release()
  budget.assertCapacity(ada)
})
