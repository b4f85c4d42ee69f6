import { expect, test } from 'vitest'
import { createFailureLimiter } from './failureLimiter.ts'

function limiterAt() {
  let nowMs = 0
  return {
    limiter: createFailureLimiter(() => nowMs),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('allows thirty failures immediately, then one per second', () => {
  const { limiter, pass } = limiterAt()
  const first = Array.from({ length: 31 }, () => limiter.fail('a'))
  expect(first.slice(0, 30)).toEqual(Array(30).fill(0))
  expect(first[30]).toBeGreaterThan(0)
  pass(1000)
  expect(limiter.fail('a')).toBe(0)
  expect(limiter.fail('a')).toBeGreaterThan(0)
})

test('counts each address separately', () => {
  const { limiter } = limiterAt()
  for (let count = 0; count < 40; count++) limiter.fail('a')
  expect(limiter.fail('b')).toBe(0)
})

test('counts a 64-bit IPv6 network as one address', () => {
  const { limiter } = limiterAt()
  for (let count = 0; count < 30; count++) limiter.fail(`2001:db8:0:1::${count.toString(16)}`)
  expect(limiter.fail('2001:db8:0:1::ffff')).toBeGreaterThan(0)
  expect(limiter.fail('2001:db8:0:2::1')).toBe(0)
})

test('bounds the wait regardless of the number of failures', () => {
  const { limiter } = limiterAt()
  const waits = Array.from({ length: 1000 }, () => limiter.fail('a'))
  expect(Math.max(...waits)).toBeLessThanOrEqual(2)
})
