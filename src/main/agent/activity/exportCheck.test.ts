import { expect, test } from 'vitest'
import { genesisHash } from './entryHash.ts'
import { checkExport } from './exportCheck.ts'
import { parseEntry } from './rowProblems.ts'
import { formatJsonLines } from './timelineExport.ts'
import type { TimelineRow } from './timelineRepository.ts'
import { truncateEntry } from './truncateEntry.ts'

const actor = { kind: 'system', name: 'Steward' } as const
const lines = (count: number, more: (index: number) => object = () => ({})): string[] => {
  const rows: TimelineRow[] = []
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const entry = { kind: 'system.started', actor, summary: `entry ${sequence}`, ...more(sequence) }
    rows.push(truncateEntry(entry, { sequence, previousHash: rows.at(-1)?.hash ?? genesisHash, nowMs: sequence }))
  }
  return [...formatJsonLines(rows.map(parseEntry))]
}
const problems = async (input: string[]) =>
  (await checkExport(input)).problems.map(({ line, problem }) => `${line}: ${problem}`)

test('accepts a complete export with and without tasks and links', async () => {
  const input = lines(5, (index) => (index % 2 ? { task: 'chat:msg_1', links: { intent: 'int_1' } } : {}))
  expect(input[0]).toContain('"task":"chat:msg_1"')
  expect(input[1]).not.toContain('task')
  expect(await checkExport(input)).toMatchObject({
    checked: 5,
    ranges: [{ from: 1, to: 5 }],
    cutThrough: null,
    last: { sequence: 5 },
    problems: [],
  })
})

test('reports the gaps in a filtered export', async () => {
  const input = lines(9).filter((_, index) => index !== 3 && index !== 6)
  expect(await checkExport(input)).toMatchObject({
    ranges: [
      { from: 1, to: 3 },
      { from: 5, to: 6 },
      { from: 8, to: 9 },
    ],
    problems: [],
  })
})

test('verifies a truncated export against the entry that records the cut', async () => {
  const whole = lines(6)
  const { hash } = JSON.parse(whole[2] ?? '')
  const cut = (through_hash: string) =>
    lines(6, (index) => (index === 6 ? { kind: 'log.cut', detail: { through_sequence: 3, through_hash } } : {})).slice(
      3,
    )
  expect(await checkExport(cut(hash))).toMatchObject({ cutThrough: 3, problems: [] })
  expect(await problems(cut('a'.repeat(64)))).toEqual(['1: Entry 4 does not follow entry 3, the last pruned entry.'])
})

test.each([
  ['"entry 2"', '"entry x"', '2: Entry 2 was changed: it does not match its hash.'],
  [',"task":"chat:msg_1"', '', '2: Entry 2 was changed: it does not match its hash.'],
  ['"int_1"', '"int_2"', '2: Entry 2 was changed: it does not match its hash.'],
  ['"sequence":2', '"sequence":2,"note":"x"', '2: The line is not a log entry: Unrecognized key: "note".'],
  ['{', '', '2: The line is not valid JSON.'],
])('detects that replacing %s yields %s', async (present, forged, problem) => {
  const input = lines(3, () => ({ task: 'chat:msg_1', links: { intent: 'int_1' } }))
  input[1] = input[1]?.replace(present, forged) ?? ''
  expect((await problems(input))[0]).toBe(problem)
})

test('detects a replaced entry with a valid hash and a moved entry', async () => {
  const input = lines(4)
  const otherLines = lines(4, (index) => ({ summary: `other ${index}` }))
  const follows = (sequence: number) => `does not follow entry ${sequence}: one of them was replaced or moved.`
  expect(await problems([input[0], otherLines[1], input[2]] as string[])).toEqual([
    `2: Entry 2 ${follows(1)}`,
    `3: Entry 3 ${follows(2)}`,
  ])
  expect(await problems([input[1], input[0]] as string[])).toEqual(['2: Entry 1 comes after entry 2.'])
})

test('handles hostile files without hanging or crashing', async () => {
  const nested = `{"detail":${'['.repeat(100_000)}`
  expect(await problems([nested, 'x'.repeat(2_000_000), '[]', 'null', '{"__proto__":{}}'])).toHaveLength(5)
  expect(await checkExport([])).toMatchObject({ checked: 0, last: null, problems: [] })
})
