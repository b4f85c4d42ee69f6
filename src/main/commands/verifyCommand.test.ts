import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { genesisHash } from '#agent/activity/entryHash.ts'
import { parseEntry } from '#agent/activity/rowProblems.ts'
import { formatJsonLines } from '#agent/activity/timelineExport.ts'
import type { TimelineRow } from '#agent/activity/timelineRepository.ts'
import { truncateEntry } from '#agent/activity/truncateEntry.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { checkFile, describeCheck } from './verifyCommand.ts'

/** Creates exported files that a user may pass to the command. */
function exportEntries(count: number, summary = (index: number): string => `entry ${index}`): string[] {
  const rows: TimelineRow[] = []
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const entry = {
      kind: 'system.started',
      actor: { kind: 'system', name: 'Steward' },
      summary: summary(sequence),
    } as const
    rows.push(truncateEntry(entry, { sequence, previousHash: rows.at(-1)?.hash ?? genesisHash, nowMs: sequence }))
  }
  return [...formatJsonLines(rows.map(parseEntry))].map((line) => line.trimEnd())
}
function writeExport(content: string | Buffer): string {
  const file = join(temporaryFolder('verify'), 'steward-activity.jsonl')
  writeFileSync(file, content)
  return file
}
const check = (content: string | Buffer) => checkFile(writeExport(content))
const problems = async (content: string | Buffer) =>
  (await check(content)).problems.map(({ line, problem }) => `${line}: ${problem}`)

test('names an unreadable folder and a missing file', async () => {
  const folder = join(temporaryFolder('verify'), 'folder')
  mkdirSync(folder)
  for (const file of [folder, `${folder}/none.jsonl`]) {
    await expect(checkFile(file)).rejects.toMatchObject({ code: 'command/usage', message: `${file} cannot be read.` })
  }
})

test.each([
  ['empty', ''],
  ['of empty lines', '\n\r\n \n'],
])('finds no entries in an %s file', async (_, content) => {
  const result = await check(content)
  expect(result).toMatchObject({ checked: 0, problems: [] })
  expect(describeCheck(result)).toBe('The file has no entries.\n')
})

test('rejects binary data as an export', async () => {
  const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, index) => (index * 7) % 256))
  const result = await check(bytes)
  expect(result.checked).toBe(0)
  expect(result.problems[0]).toEqual({ line: 1, problem: 'The line is not valid JSON.' })
  expect(describeCheck(result)).toMatch(/^The export was changed:\n {2}line 1: The line is not valid JSON\.\n/)
})

test('reads a line of 100 MB with bounded memory', async () => {
  const lines = exportEntries(2)
  const file = writeExport(
    Buffer.concat([Buffer.from(`${lines[0]}\n`), Buffer.alloc(100_000_000, 120), Buffer.from(`\n${lines[1]}\n`)]),
  )
  const before = process.memoryUsage().rss
  const result = await checkFile(file)
  expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000)
  expect(result).toMatchObject({
    checked: 2,
    problems: [{ line: 2, problem: 'The line is too long for an entry.' }],
  })
})

test('accepts other line endings and a byte order mark', async () => {
  const lines = exportEntries(3)
  for (const content of [
    ...[lines.join('\n'), `${lines.join('\n')}\n`, `${lines.join('\r\n')}\r\n`],
    ...[`\u{feff}${lines.join('\r\n')}`, `${lines.join('\n\n')}\n\n\n`],
  ]) {
    expect(await check(content)).toMatchObject({ checked: 3, problems: [], last: { sequence: 3 } })
  }
  expect(await problems(`${lines[0]}\n\u{feff}${lines[1]}`)).toEqual(['2: The line is not valid JSON.'])
})

test('special characters in an entry do not end its line', async () => {
  const lines = exportEntries(3, () => 'a\u2028b\u2029c\u0085d\re\nf\u{feff}')
  expect(await check(lines.join('\n'))).toMatchObject({ checked: 3, problems: [] })
})

test('detects reordered and repeated lines, missing ones and those of another log', async () => {
  const lines = exportEntries(5)
  const [first = '', two = '', three = '', four = '', five = ''] = lines
  const otherExport = exportEntries(5, (index) => `other ${index}`)
  expect((await problems(lines.toReversed().join('\n')))[0]).toBe('2: Entry 4 comes after entry 5.')
  expect(await problems([first, two, two, three].join('\n'))).toEqual(['3: Entry 2 comes after entry 2.'])
  expect(await problems([first, two, otherExport[2], otherExport[3]].join('\n'))).toEqual([
    '3: Entry 3 does not follow entry 2: one of them was replaced or moved.',
  ])
  const gap = await check([first, two, four, five].join('\n'))
  expect(gap).toMatchObject({
    problems: [],
    ranges: [
      { from: 1, to: 2 },
      { from: 4, to: 5 },
    ],
  })
  expect(describeCheck(gap)).toContain('Gaps: 1. A filtered export has gaps.')
  // Only the last hash can reveal missing entries at the end, so the report shows it for comparison.
  const short = await check([first, two].join('\n'))
  expect(describeCheck(short)).toContain(`Last entry: 2, hash ${JSON.parse(two).hash}.`)
})

test('detects a changed summary, hash or cut and a duplicate field', async () => {
  const [first = '', two = ''] = exportEntries(2)
  const changed = '2: Entry 2 was changed: it does not match its hash.'
  const { hash } = JSON.parse(two)
  expect(await problems(`${first}\n${two.replace('entry 2', 'entry x')}`)).toEqual([changed])
  expect(await problems(`${first}\n${two.replace(hash, 'a'.repeat(64))}`)).toEqual([changed])
  const forged = two.replace('"kind":"system.started"', '"kind":"log.cut"')
  expect(await problems(`${first}\n${forged}`)).toEqual([changed])
  const twice = two.replace('"summary"', '"summary":"Nothing happened.","summary"')
  expect(await problems(`${first}\n${twice}`)).toEqual([
    '2: The line is not in the format that Steward writes: a field, a space or the order differs.',
  ])
})

test('rejects an export that ends within a line', async () => {
  const text = exportEntries(3).join('\n')
  expect(await problems(text.slice(0, -20))).toEqual(['3: The line is not valid JSON.'])
})
