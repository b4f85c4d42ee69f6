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

test('lets thirty failures through at once, then one a second', () => {
  const { limiter, pass } = limiterAt()
  const first = Array.from({ length: 31 }, () => limiter.fail('a'))
  expect(first.slice(0, 30)).toEqual(Array(30).fill(0))
  expect(first[30]).toBeGreaterThan(0)
  pass(1000)
  expect(limiter.fail('a')).toBe(0)
  expect(limiter.fail('a')).toBeGreaterThan(0)
})

test('counts each address on its own', () => {
  const { limiter } = limiterAt()
  for (let count = 0; count < 40; count++) limiter.fail('a')
  expect(limiter.fail('b')).toBe(0)
})

test('counts a network of 64 bits as one: a machine with IPv6 has all its addresses', () => {
  const { limiter } = limiterAt()
  for (let count = 0; count < 30; count++) limiter.fail(`2001:db8:0:1::${count.toString(16)}`)
  expect(limiter.fail('2001:db8:0:1::ffff')).toBeGreaterThan(0)
  expect(limiter.fail('2001:db8:0:2::1')).toBe(0)
})

test('never asks for more than a second, however long somebody goes on', () => {
  const { limiter } = limiterAt()
  const waits = Array.from({ length: 1000 }, () => limiter.fail('a'))
  expect(Math.max(...waits)).toBeLessThanOrEqual(2)
})
