import { expect, test } from 'vitest'
import { formatReport, plainLine, reportsTogether, type TestReport } from './testReport.ts'

function report(fields: Partial<TestReport>): TestReport {
  return { counts: { passed: 1, failed: 0, skipped: 0 }, remarks: [], files: [], ...fields }
}

test('several reports make one, with every count, remark and file', () => {
  const together = reportsTogether([
    report({ remarks: ['second try: a > b'], files: [{ name: 'a.test.ts', seconds: 1 }] }),
    report({ counts: { passed: 2, failed: 3, skipped: 4 }, files: [{ name: 'b.test.ts', seconds: 20.25 }] }),
  ])
  expect(plainLine(together.counts)).toBe('3 passed, 3 failed, 4 skipped')
  expect(formatReport(together)).toEqual([
    'second try: a > b',
    '',
    'The 2 slowest files:',
    '   20.3 s  b.test.ts',
    '    1.0 s  a.test.ts',
    '',
  ])
})

test('of many files the twenty slowest are told', () => {
  const files = Array.from({ length: 30 }, (_, seconds) => ({ name: `file${seconds}`, seconds }))
  const lines = formatReport(report({ files }))
  expect(lines.filter((line) => line.includes('file'))).toHaveLength(21)
  expect(lines.some((line) => line.endsWith(' file9'))).toBe(false)
})
