import { expect, test } from 'vitest'
import { parseRange } from './byteRange.ts'

const file = { size: 100, etag: '"v1"' }
const all = { from: 0, end: 100, partial: false }

test.each([
  ['bytes=0-9', { from: 0, end: 10, partial: true }],
  ['bytes=90-', { from: 90, end: 100, partial: true }],
  ['bytes=90-1000', { from: 90, end: 100, partial: true }],
  ['bytes=-10', { from: 90, end: 100, partial: true }],
  ['bytes=-1000', { from: 0, end: 100, partial: true }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=9-0', all],
  ['bytes=0-1,5-6', all],
  ['lines=0-1', all],
  ['bytes=-', all],
  [undefined, all],
])('resolves the range %s of 100 bytes to %o', (range, expected) => {
  expect(parseRange({ ...(range && { range }) }, file)).toEqual(expected)
})

test('ignores a range of another version', () => {
  expect(parseRange({ range: 'bytes=0-9', 'if-range': '"v0"' }, file)).toEqual(all)
  expect(parseRange({ range: 'bytes=0-9', 'if-range': '"v1"' }, file)).toMatchObject({ end: 10 })
})

test('no range of an empty file is satisfiable', () => {
  expect(parseRange({ range: 'bytes=-5' }, { ...file, size: 0 })).toBe('unsatisfiable')
  expect(parseRange({ range: 'bytes=0-' }, { ...file, size: 0 })).toBe('unsatisfiable')
})
