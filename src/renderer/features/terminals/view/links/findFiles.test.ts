import { expect, test } from 'vitest'
import { findFiles } from './findFiles.ts'

const named = (text: string) =>
  findFiles(text).map(({ start, end, path, line, column }) => [text.slice(start, end), path, line, column])

test.each([
  ['src/app.ts:12:5 - error TS2322: Type', 'src/app.ts:12:5', 'src/app.ts', 12, 5],
  ['src/app.ts(12,5): error TS2322: Type', 'src/app.ts(12,5)', 'src/app.ts', 12, 5],
  ['  File "/root/my app.py", line 3, in <module>', 'File "/root/my app.py", line 3', '/root/my app.py', 3, undefined],
  ['./main.go:7: undefined: x', './main.go:7', './main.go', 7, undefined],
  ['    at Object.<anonymous> (/root/a.js:1:7)', '/root/a.js:1:7', '/root/a.js', 1, 7],
  ['Makefile:3: *** missing separator.', 'Makefile:3', 'Makefile', 3, undefined],
  ['error[E0308] --> src/main.rs:2:18', 'src/main.rs:2:18', 'src/main.rs', 2, 18],
  ['straße/größe.txt:4', 'straße/größe.txt:4', 'straße/größe.txt', 4, undefined],
])('%s', (text, linkText, path, line, column) => {
  expect(named(text)).toEqual([[linkText, path, line, column]])
})

test.each(['it is 12:30', '127.0.0.1:53', 'http://example.com:80/', 'a:b', 'ratio 3:4', 'src/:3', 'x:12abc'])(
  '%s names no file',
  (text) => expect(named(text)).toEqual([]),
)

test('parses a long hostile line quickly and limits the number of links', () => {
  expect(findFiles('a:1 '.repeat(1_000))).toHaveLength(8)
  expect(findFiles(`${'a/'.repeat(5_000)}:x`)).toEqual([])
  expect(findFiles(`File "${'a'.repeat(10_000)}`)).toEqual([])
})
