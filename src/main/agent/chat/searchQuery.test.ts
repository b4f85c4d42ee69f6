import { expect, test } from 'vitest'
import { searchQuery, splitSnippet } from './searchQuery.ts'

test('every word must occur, the last one as a beginning', () => {
  expect(searchQuery('power house')).toBe('"power" AND "house"*')
  expect(searchQuery('"power house" cell')).toBe('"power house" AND "cell"*')
  expect(searchQuery('cell "power house"')).toBe('"cell" AND "power house"')
})

test('nothing typed is an operator', () => {
  expect(searchQuery('NOT a:b* (c')).toBe('"NOT" AND "a:b*" AND "(c"*')
  expect(searchQuery('" - ( *')).toBeUndefined()
})

test('a snippet is told in parts', () => {
  expect(splitSnippet('a\n\u0001hit\u0002 b \u0001two\u0002')).toEqual([
    { text: 'a ', hit: false },
    { text: 'hit', hit: true },
    { text: ' b ', hit: false },
    { text: 'two', hit: true },
  ])
})
