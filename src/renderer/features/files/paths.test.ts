import { expect, test } from 'vitest'
import { findFreeName, formatSize, getBasename, getDirname, joinPath, resolveTypedPath } from './paths.ts'

test('paths are put together and taken apart', () => {
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
])('%j typed in /root is %s', (typed, path) => expect(resolveTypedPath(typed, '/root')).toBe(path))

test('a second one has a number before its ending', () => {
  expect(findFreeName('a.txt', new Set(['a.txt', 'a 2.txt']))).toBe('a 3.txt')
  expect(findFreeName('.env', new Set())).toBe('.env 2')
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1500, '1.5 KB'],
  [123_456_789, '123 MB'],
])('%i bytes are %s', (bytes, text) => expect(formatSize(bytes)).toBe(text))
