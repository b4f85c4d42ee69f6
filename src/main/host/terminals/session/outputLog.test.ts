import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOutputLog } from './outputLog.ts'

test('any retained range reads as written regardless of write sizes', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), fc.nat(), (written, forget, a, b) => {
      const all = Buffer.concat(written.map((size, index) => Buffer.alloc(size, index + 1)))
      const log = createOutputLog(7)
      for (const [index, size] of written.entries()) log.append(Buffer.alloc(size, index + 1))
      expect(log.end).toBe(7 + all.length)
      log.forget(7 + (forget % (all.length + 1)))
      expect(log.start).toBeLessThanOrEqual(7 + (forget % (all.length + 1)))
      const storedBytes = log.end - log.start
      const [from, to] = [a % (storedBytes + 1), b % (storedBytes + 1)].sort((x, y) => x - y)
      const read = Buffer.concat(log.runs(log.start + from!, log.start + to!))
      expect(read.equals(all.subarray(log.start - 7 + from!, log.start - 7 + to!))).toBe(true)
    }),
    { numRuns: 60, seed: 7 },
  )
})

test('a returned run does not change when more output is written', () => {
  const log = createOutputLog()
  log.append(Buffer.from('first'))
  const run = log.run(0, 100)
  log.append(Buffer.from(' second'))
  expect(run.toString()).toBe('first')
  expect(log.run(5, 100).toString()).toBe(' second')
})

test('discards only whole blocks', () => {
  const log = createOutputLog()
  log.append(Buffer.alloc(300_000))
  log.forget(200_000)
  expect(log.start).toBeGreaterThan(100_000)
  expect(log.start).toBeLessThanOrEqual(200_000)
  log.forget(Number.MAX_SAFE_INTEGER)
  expect([log.start, log.end]).toEqual([300_000, 300_000])
  expect(log.run(log.start - 1, 10)).toHaveLength(0)
  expect(log.run(300_000, 10)).toHaveLength(0)
  log.append(Buffer.from('more'))
  expect(log.run(300_000, 10).toString()).toBe('more')
})
