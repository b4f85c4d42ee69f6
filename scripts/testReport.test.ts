import { expect, test } from 'vitest'
import {
  countTests,
  type FileReport,
  formatReport,
  joinReports,
  plainLine,
  replaceFiles,
  type TestReport,
} from './testReport.ts'

function fileReport(fields: Partial<FileReport>): FileReport {
  const counts = { passed: 1, failed: 0, skipped: 0 }
  return { name: 'a.test.ts', suite: 'integration', seconds: 1, counts, remarks: [], ...fields }
}

function report(files: FileReport[], failures: string[] = []): TestReport {
  return { files, failures }
}

test('joins several reports with every count, remark and file', () => {
  const together = joinReports([
    report([fileReport({ remarks: ['second try: a > b'] })]),
    report(
      [fileReport({ name: 'b.test.ts', seconds: 20.25, counts: { passed: 2, failed: 3, skipped: 4 } })],
      ['failed: outside a test: Error'],
    ),
  ])
  expect(plainLine(countTests(together))).toBe('3 passed, 4 failed, 4 skipped')
  expect(formatReport(together)).toEqual([
    'failed: outside a test: Error',
    'second try: a > b',
    '',
    'The 2 slowest files:',
    '   20.3 s  b.test.ts',
    '    1.0 s  a.test.ts',
    '',
  ])
})

test('counts a rerun file once and reports the error of its first run', () => {
  const first = report([
    fileReport({ counts: { passed: 4, failed: 1, skipped: 2 }, remarks: ['failed: a > b: TimeoutError'] }),
    fileReport({ name: 'b.test.ts' }),
  ])
  const second = report([fileReport({ counts: { passed: 7, failed: 0, skipped: 0 }, remarks: ['second try: a > c'] })])
  const both = replaceFiles(first, second)
  expect(countTests(both)).toEqual({ passed: 8, failed: 0, skipped: 0 })
  expect(formatReport(both).slice(0, 2)).toEqual(['failed in the first run: a > b: TimeoutError', 'second try: a > c'])
})

test('counts a repeated error and an error outside of files', () => {
  const failed = fileReport({ counts: { passed: 0, failed: 1, skipped: 0 }, remarks: ['failed: a > b: Error'] })
  const both = replaceFiles(report([failed], ['failed: outside a test: Error']), report([failed]))
  expect(countTests(both).failed).toBe(2)
  expect(formatReport(both)).toContain('failed: a > b: Error')
})

test('lists the twenty slowest files', () => {
  const files = Array.from({ length: 30 }, (_, seconds) => fileReport({ name: `file${seconds}`, seconds }))
  const lines = formatReport(report(files))
  expect(lines.filter((line) => line.includes('file'))).toHaveLength(21)
  expect(lines.some((line) => line.endsWith(' file9'))).toBe(false)
})
