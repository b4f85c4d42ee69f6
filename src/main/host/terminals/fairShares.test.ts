import fc from 'fast-check'
import { expect, test } from 'vitest'
import { divideFairly } from './fairShares.ts'

test('small requests are granted in full, large ones share the rest', () => {
  expect(divideFairly([1, 100, 0, 100], 21)).toEqual([1, 10, 0, 10])
  expect(divideFairly([3, 4], 10)).toEqual([3, 4])
  expect(divideFairly([5, 5, 5], 2)).toEqual([1, 1, 0])
})

test('shares never exceed requests or the limit and leave nothing unused', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.nat(100), (requested, limit) => {
      const shares = divideFairly(requested, limit)
      const sum = (numbers: readonly number[]) => numbers.reduce((total, it) => total + it, 0)
      expect(shares.every((share, index) => share >= 0 && share <= (requested[index] ?? 0))).toBe(true)
      expect(sum(shares)).toBe(Math.min(limit, sum(requested)))
    }),
  )
})
