import { expect, test } from 'vitest'
import { findFreeName, formatSize, getBasename, getDirname, joinPath, resolveTypedPath } from './paths.ts'

test('joins and splits paths', () => {
  expect([joinPath('/', 'a'), joinPath('/a', 'b')]).toEqual(['/a', '/a/b'])
  expect([getDirname('/a'), getDirname('/a/b'), getBasename('/a/b c')]).toEqual(['/', '/a', 'b c'])
})

test.each([
  ['/srv/', '/srv'],
  ['x', '/root/x'],
  ['../etc', '/etc'],
  ['../../..', '/'],
  ['./a//b', '/root/a/b'],
  ['a\0', undefined],
])('resolves %j typed in /root to %s', (typed, path) => expect(resolveTypedPath(typed, '/root')).toBe(path))

test('inserts a number before the extension of a duplicate name', () => {
  expect(findFreeName('a.txt', new Set(['a.txt', 'a 2.txt']))).toBe('a 3.txt')
  expect(findFreeName('.env', new Set())).toBe('.env 2')
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1500, '1.5 KB'],
  [123_456_789, '123 MB'],
])('formats %i bytes as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text))
