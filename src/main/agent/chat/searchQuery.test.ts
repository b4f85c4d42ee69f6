import { expect, test } from 'vitest'
import { searchQuery, splitSnippet } from './searchQuery.ts'

test('requires every word and matches the last one as a prefix', () => {
  expect(searchQuery('power house')).toBe('"power" AND "house"*')
  expect(searchQuery('"power house" cell')).toBe('"power house" AND "cell"*')
  expect(searchQuery('cell "power house"')).toBe('"cell" AND "power house"')
})

test('treats search operators as literal text', () => {
  expect(searchQuery('NOT a:b* (c')).toBe('"NOT" AND "a:b*" AND "(c"*')
  expect(searchQuery('" - ( *')).toBeUndefined()
})

test('splits a snippet into plain and matching parts', () => {
  expect(splitSnippet('a\n\u0001hit\u0002 b \u0001two\u0002')).toEqual([
    { text: 'a ', hit: false },
    { text: 'hit', hit: true },
    { text: ' b ', hit: false },
    { text: 'two', hit: true },
  ])
})
