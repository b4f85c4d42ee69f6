import fc from 'fast-check'
import { expect, test } from 'vitest'
import { divideFairly } from './fairShares.ts'

test('the small get all, the large share what is left', () => {
  expect(divideFairly([1, 100, 0, 100], 21)).toEqual([1, 10, 0, 10])
  expect(divideFairly([3, 4], 10)).toEqual([3, 4])
  expect(divideFairly([5, 5, 5], 2)).toEqual([1, 1, 0])
})

test('nobody gets more than wanted, all together no more than the limit, and nothing is left over', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.nat(100), (requested, limit) => {
      const shares = divideFairly(requested, limit)
      const sum = (numbers: readonly number[]) => numbers.reduce((total, it) => total + it, 0)
      expect(shares.every((share, index) => share >= 0 && share <= (requested[index] ?? 0))).toBe(true)
      expect(sum(shares)).toBe(Math.min(limit, sum(requested)))
    }),
  )
})
