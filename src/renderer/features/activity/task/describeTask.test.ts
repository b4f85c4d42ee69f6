import { expect, test } from 'vitest'
import { formatCosts, formatEntryCount, formatTaskName } from './describeTask.ts'

const sums = {
  cost_micro_usd: 0,
  paid_micro_usdc: 0,
  paid_test_micro_usdc: 0,
  charged_micro_usd: 0,
  estimated: false,
}

test('lists each kind of money separately', () => {
  expect(
    formatCosts({ ...sums, cost_micro_usd: 12_345, paid_micro_usdc: 1_500_000, charged_micro_usd: 250_000 }),
  ).toEqual(['Models $0.012345', 'Payments 1.50 USDC', 'Credits $0.25'])
  expect(formatCosts({ ...sums, cost_micro_usd: 1_000, estimated: true })).toEqual(['Models about $0.001'])
  expect(formatCosts({ ...sums, paid_micro_usdc: 1_000_000, paid_test_micro_usdc: 5_000_000 })).toEqual([
    'Payments 1.00 USDC',
    'Payments 5.00 test USDC',
  ])
  expect(formatCosts(sums)).toEqual(['No cost'])
})

test('formats task names and entry counts', () => {
  expect(['chat:a', 'call:a', 'action:a', 'x:a', 'constructor:a'].map(formatTaskName)).toEqual([
    'Chat turn',
    'Program call',
    'Your action',
    'Task',
    'Task',
  ])
  expect([formatEntryCount(1), formatEntryCount(1200)]).toEqual(['1 entry', '1,200 entries'])
})
