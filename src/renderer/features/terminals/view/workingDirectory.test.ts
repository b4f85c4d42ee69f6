import { expect, test } from 'vitest'
import { parseDirectory } from './workingDirectory.ts'

test.each([
  ['file://box/root/a%20b', '/root/a b'],
  ['file:///root', '/root'],
  ['file://box/100%', '/100%'],
  ['https://box/root', undefined],
  ['/root', undefined],
  ['', undefined],
])('parses %s as %s', (data, directory) => {
  expect(parseDirectory(data)).toBe(directory)
})
