import { expect, test } from 'vitest'
import { JsonError, parseJson } from './boundedJson.ts'

const nest = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const reasonFor = (text: string, limits = {}): string | undefined => {
  try {
    parseJson(text, limits)
    return undefined
  } catch (error) {
    return error instanceof JsonError ? error.reason : 'another error'
  }
}

test('parses text within the limits', () => {
  expect(parseJson('{"a":[1,{"b":"]}"}]}')).toEqual({ a: [1, { b: ']}' }] })
  expect(parseJson('7', { maxDepth: 0 })).toBe(7)
})

test.each([
  [64, 64, undefined],
  [65, 64, 'too-deep'],
  [1_000_000, 64, 'too-deep'],
  [3, 2, 'too-deep'],
  [0, 0, 'malformed'],
])('parsing %i levels with a limit of %i reports %s', (levels, maxDepth, reason) => {
  expect(reasonFor(nest(levels), { maxDepth })).toBe(reason)
})

test('counts levels, not brackets', () => {
  expect(parseJson(`[${Array(1000).fill('{}').join()}]`, { maxDepth: 2 })).toHaveLength(1000)
})

test.each([
  ['brackets', '"[[[[["'],
  ['an escaped quote before brackets', String.raw`"\"[[[[["`],
  ['an escaped backslash at its end', String.raw`"[[[[\\"`],
  ['a run of backslashes and a quote', String.raw`"[[[\\\\\"[[["`],
])('reads a string with %s as a string', (_, text) => {
  expect(parseJson(`[${text},${text}]`, { maxDepth: 1 })).toEqual([JSON.parse(text), JSON.parse(text)])
})

test('detects levels after a string that ends in a backslash', () => {
  expect(reasonFor(String.raw`["\\",[[[1]]]]`, { maxDepth: 3 })).toBe('too-deep')
  expect(reasonFor(String.raw`["\\",[[[1]]]]`, { maxDepth: 4 })).toBeUndefined()
})

test('counts bytes, not characters', () => {
  expect(reasonFor('"ééé"', { maxBytes: 8 })).toBeUndefined()
  expect(reasonFor('"ééé"', { maxBytes: 7 })).toBe('too-large')
  expect(reasonFor('"漢字"', { maxBytes: 7 })).toBe('too-large')
})

test('reports the position of an error without revealing the text', () => {
  expect(reasonFor('{"key": secret}')).toBe('malformed')
  expect(() => parseJson('{"key": secret}')).toThrow(/^The text is not valid JSON[.]$/)
  expect(() => parseJson('"unended')).toThrow(/^The text is not valid JSON \(at position 8\)[.]$/)
})
