import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOrphaned, countUnfinished } from './wholeCharacters.ts'

test('split text is complete once unfinished bytes are deferred', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, index) => {
      const bytes = Buffer.from(text)
      const cut = index % (bytes.length + 1)
      const end = cut - countUnfinished(bytes.subarray(0, cut))
      expect(bytes.toString('utf8', 0, end) + bytes.toString('utf8', end)).toBe(text)
      expect(cut - end).toBeLessThan(4)
    }),
  )
})

test('text with a lost beginning starts at a character once orphaned bytes are dropped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, index) => {
      const bytes = Buffer.from(text)
      const rest = bytes.subarray(index % bytes.length)
      const whole = rest.subarray(countOrphaned(rest)).toString('utf8')
      expect(text.endsWith(whole)).toBe(true)
    }),
  )
})

test('does not wait for bytes that cannot form a character', () => {
  expect(countUnfinished(Buffer.from([0x41, 0xff]))).toBe(0)
  expect(countUnfinished(Buffer.from([0x80, 0x80, 0x80]))).toBe(0)
  expect(countUnfinished(Buffer.from([0xf0, 0x9f, 0x98]))).toBe(3)
  expect(countUnfinished(Buffer.alloc(0))).toBe(0)
})
