import { expect, test } from 'vitest'
import { genesisHash } from './entryHash.ts'
import { checkExport } from './exportCheck.ts'
import { entryOf } from './rowProblems.ts'
import { jsonLines } from './timelineExport.ts'
import type { TimelineRow } from './timelineRepository.ts'
import { writtenEntry } from './writtenEntry.ts'

const actor = { kind: 'system', name: 'Steward' } as const
const lines = (count: number, more: (at: number) => object = () => ({})): string[] => {
  const rows: TimelineRow[] = []
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const entry = { kind: 'system.started', actor, summary: `entry ${sequence}`, ...more(sequence) }
    rows.push(writtenEntry(entry, { sequence, previousHash: rows.at(-1)?.hash ?? genesisHash, nowMs: sequence }))
  }
  return [...jsonLines(rows.map(entryOf))]
}
const problems = async (given: string[]) =>
  (await checkExport(given)).problems.map(({ line, problem }) => `${line}: ${problem}`)

test('a whole export is intact, with tasks and links and without', async () => {
  const given = lines(5, (at) => (at % 2 ? { task: 'chat:msg_1', links: { intent: 'int_1' } } : {}))
  expect(given[0]).toContain('"task":"chat:msg_1"')
  expect(given[1]).not.toContain('task')
  expect(await checkExport(given)).toMatchObject({
    checked: 5,
    ranges: [{ from: 1, to: 5 }],
    cutThrough: null,
    last: { sequence: 5 },
    problems: [],
  })
})

test('a filtered one says where entries are left out', async () => {
  const given = lines(9).filter((_, index) => index !== 3 && index !== 6)
  expect(await checkExport(given)).toMatchObject({
    ranges: [
      { from: 1, to: 3 },
      { from: 5, to: 6 },
      { from: 8, to: 9 },
    ],
    problems: [],
  })
})

test('one whose beginning was cut off is proved by the entry that says so', async () => {
  const whole = lines(6)
  const { hash } = JSON.parse(whole[2] ?? '')
  const cut = (through_hash: string) =>
    lines(6, (at) => (at === 6 ? { kind: 'log.cut', detail: { through_sequence: 3, through_hash } } : {})).slice(3)
  expect(await checkExport(cut(hash))).toMatchObject({ cutThrough: 3, problems: [] })
  expect(await problems(cut('a'.repeat(64)))).toEqual(['1: Entry 4 does not follow entry 3, which was cut off.'])
})

test.each([
  ['"entry 2"', '"entry x"', '2: Entry 2 was changed: it does not match its hash.'],
  [',"task":"chat:msg_1"', '', '2: Entry 2 was changed: it does not match its hash.'],
  ['"int_1"', '"int_2"', '2: Entry 2 was changed: it does not match its hash.'],
  ['"sequence":2', '"sequence":2,"note":"x"', '2: The line is no entry of the log: Unrecognized key: "note".'],
  ['{', '', '2: The line is no JSON.'],
])('finds %s as %s', async (present, forged, problem) => {
  const given = lines(3, () => ({ task: 'chat:msg_1', links: { intent: 'int_1' } }))
  given[1] = given[1]?.replace(present, forged) ?? ''
  expect((await problems(given))[0]).toBe(problem)
})

test('finds an entry that was exchanged for one that fits in itself, and one that was moved', async () => {
  const given = lines(4)
  const other = lines(4, (at) => ({ summary: `other ${at}` }))
  const follows = (of: number) => `does not follow entry ${of}: one of the two was exchanged or moved.`
  expect(await problems([given[0], other[1], given[2]] as string[])).toEqual([
    `2: Entry 2 ${follows(1)}`,
    `3: Entry 3 ${follows(2)}`,
  ])
  expect(await problems([given[1], given[0]] as string[])).toEqual(['2: Entry 1 stands after entry 2.'])
})

test('nothing in a file can keep it busy or break it', async () => {
  const nested = `{"detail":${'['.repeat(100_000)}`
  expect(await problems([nested, 'x'.repeat(2_000_000), '[]', 'null', '{"__proto__":{}}'])).toHaveLength(5)
  expect(await checkExport([])).toMatchObject({ checked: 0, last: null, problems: [] })
})
