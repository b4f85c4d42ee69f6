import { expect, test } from 'vitest'
import { parseLimitCents } from './keyLimits.ts'

test('parses a limit as dollars with whole cents or as none', () => {
  expect(['', ' ', '5', '$5.25', '0'].map(parseLimitCents)).toEqual([null, null, 500, 525, 0])
  expect(['5.005', 'much', '-1', '1000000.01'].map(parseLimitCents)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
