import { expect, test } from 'vitest'
import { centsText, limitCents } from './keyLimits.ts'

test('a limit is dollars and whole cents, or none', () => {
  expect(['', ' ', '5', '$5.25', '0'].map(limitCents)).toEqual([null, null, 500, 525, 0])
  expect(['5.005', 'much', '-1', '1000000.01'].map(limitCents)).toEqual([undefined, undefined, undefined, undefined])
})

test('what was spent shows parts of cents', () => {
  expect([0, 500, 0.15, 12.3456].map(centsText)).toEqual(['$0.00', '$5.00', '$0.0015', '$0.123456'])
})
