import { expect, test } from 'vitest'
import { sanitizeLine } from './shownLine.ts'

test('reduces hostile text to one short line without hidden characters', () => {
  expect(sanitizeLine('a\r\nb\x1b[2J\u202Egnp\u2066\u200b.exe\u2028c', 200)).toBe('a b [2J gnp .exe c')
  expect(sanitizeLine('x'.repeat(10_000), 200)).toHaveLength(200)
  expect(sanitizeLine(`${'x'.repeat(799)}\u{1F600}`, 200).match(/\p{Cs}/u)).toBeNull()
  expect(sanitizeLine('\u0007\u200b', 200)).toBe('')
})
