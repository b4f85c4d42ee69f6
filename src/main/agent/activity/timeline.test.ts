import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Log, silentLog } from '#platform/logging/log.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createTaskContext } from '../base/taskContext.ts'
import { genesisHash } from './entryHash.ts'
import { createTimeline, type Timeline } from './timeline.ts'
import { createTimelineRepository } from './timelineRepository.ts'
import { truncateEntry } from './truncateEntry.ts'
import { verifyRows } from './verifyRows.ts'

let folder: string
let database: Database
let log: Timeline
let appended: number[]
const tasks = createTaskContext()

const open = (failures: Log = silentLog): Timeline =>
  createTimeline({
    database,
    tasks,
    headPath: join(folder, 'activity.head'),
    now: () => Date.UTC(2026, 0, 2),
    onAppended: (sequence) => appended.push(sequence),
    log: failures,
  })
const system = { kind: 'system', name: 'Steward' } as const
const createEntry = (summary: string) => ({ kind: 'system.started', actor: system, summary })
const all = (it: Timeline = log) => it.records.following(0, 1000)

beforeEach(() => {
  folder = temporaryFolder('timeline')
  database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  appended = []
  log = open()
})
afterEach(async () => {
  await log.close()
  database.close()
})

/** Changes the database file directly, bypassing the log. */
function tamper(sql: string): void {
  database.exec('DROP TRIGGER IF EXISTS timeline_keeps_rows; DROP TRIGGER IF EXISTS timeline_keeps_words')
  database.exec(sql)
}

test('entries recorded in a rolled-back transaction survive and the chain stays intact', async () => {
  log.record(createEntry('one'))
  const fails = database.transaction(() => {
    log.record(createEntry('two'))
    throw new Error('taken back')
  })
  expect(() => fails()).toThrow('taken back')
  log.record(createEntry('three'))
  expect(all().map(({ summary }) => summary)).toEqual(['one', 'two', 'three'])
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 3 })
  database.transaction(() => log.record(createEntry('four')))()
  await log.close()
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 4 })
})

test('each entry contains the hash of the previous one', async () => {
  log.record(createEntry('one'))
  log.record({ ...createEntry('two'), subject: 'x', detail: { b: 1, a: 'ü "q"', c: null, d: true }, atMs: 5 })
  const [first, two] = all()
  expect(first).toMatchObject({ sequence: 1, atMs: Date.UTC(2026, 0, 2), summary: 'one', previousHash: genesisHash })
  expect(two).toMatchObject({ sequence: 2, atMs: 5, detail: '{"a":"ü \\"q\\"","b":1,"c":null,"d":true}' })
  expect(two?.previousHash).toBe(first?.hash)
  expect(appended).toEqual([1, 2])
  expect(await verifyRows(log)).toEqual({
    ok: true,
    checked: 2,
    cut_through: null,
    head: { sequence: 2, hash: two?.hash },
    problems: [],
  })
})

test('an entry has the hash from the documentation', () => {
  log.record({ ...createEntry('Steward 1.0.0 started.'), detail: { version: '1.0.0' } })
  expect(all()[0]?.hash).toBe('357be1d05e4852f05c0b79d4aa3fbd2caf60d18e330b3a67bfead99f9baa0af8')
})

const text = fc.string({ unit: 'binary', maxLength: 40 })
const anyEntry = fc.record({
  kind: text,
  actor: fc.record({ kind: fc.constantFrom('person', 'client', 'tool', 'agent', 'service', 'system'), name: text }),
  subject: text,
  task: fc.constantFrom('chat:msg_1', 'action:1'),
  links: fc.record({ intent: text, sandbox: text }, { requiredKeys: [] }),
  summary: text,
  detail: fc.dictionary(text, fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null)), { maxKeys: 4 }),
  atMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
})

test('recorded entries verify and any changed field is detected', async () => {
  const columns = [
    'at_ms',
    'kind',
    'actor_kind',
    'actor_name',
    'subject',
    'summary',
    'detail',
    'task',
    'links',
    'previous_hash',
    'hash',
  ]
  const change = fc.record({
    column: fc.constantFrom(...columns),
    row: fc.nat(),
    text: fc.oneof(text, fc.stringMatching(/^[0-9a-f]{64}$/)),
    number: fc.integer(),
  })
  tamper('')
  await fc.assert(
    fc.asyncProperty(fc.array(anyEntry, { minLength: 1, maxLength: 5 }), change, async (entries, changed) => {
      for (const entry of entries) log.record(entry)
      expect((await verifyRows(log)).problems).toEqual([])
      const { column } = changed
      const sequence = 1 + (changed.row % log.records.lastSequence())
      const value = column === 'at_ms' ? changed.number : changed.text.toWellFormed().replaceAll('\0', '')
      const fits = !column.endsWith('hash') || String(value).length === 64
      if (!fits) return
      database.exec('SAVEPOINT before')
      const { changes } = database
        .prepare(`UPDATE timeline SET ${column} = ? WHERE sequence = ? AND ${column} IS NOT ?`)
        .run(value, sequence, value)
      const { ok } = await verifyRows(log)
      database.exec('ROLLBACK TO before; RELEASE before')
      expect(ok).toBe(changes === 0)
    }),
    { numRuns: 60 },
  )
})

test('an empty log verifies', async () => {
  expect(await verifyRows(log)).toEqual({ ok: true, checked: 0, cut_through: null, head: null, problems: [] })
})

test('verifies entries with arbitrary text unchanged', async () => {
  const odd = '\ud800 \0 \u2028 \u{1f600} "\\ \t\n'
  log.record({
    kind: odd,
    actor: { kind: 'client', name: odd },
    subject: odd,
    summary: odd.repeat(5_000),
    detail: { [odd]: odd, infinite: Number.POSITIVE_INFINITY, minus: -0, tiny: 1e-7, large: 1e21 },
  })
  log.record({ ...createEntry(''), subject: '' })
  log.record({ ...createEntry('odd names'), detail: JSON.parse('{"__proto__":"x","10":1,"9":2,"constructor":3}') })
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 3 })
  expect(all()[1]?.subject).toBeNull()
})

test('continues after a restart and after a crash before the head was saved', async () => {
  const readHeadFile = () => readFileSync(join(folder, 'activity.head'), 'utf8')
  log.record(createEntry('one'))
  await log.close()
  expect(statSync(join(folder, 'activity.head')).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readHeadFile())).toMatchObject({ sequence: 1, closed: true })
  log = open()
  const running = readHeadFile()
  expect(JSON.parse(running)).toEqual({ sequence: 1, hash: all()[0]?.hash })
  log.record(createEntry('two'))
  await log.close()
  writeFileSync(join(folder, 'activity.head'), running)
  log = open()
  log.record(createEntry('three'))
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 3 })
})

test('saves its head shortly after an entry', async () => {
  log.record(createEntry('one'))
  await eventually(() =>
    expect(JSON.parse(readFileSync(join(folder, 'activity.head'), 'utf8'))).toEqual({
      sequence: 1,
      hash: all()[0]?.hash,
    }),
  )
})

test('a failed write does not fail the recorded work', () => {
  const lines: string[] = []
  const failures: Log = { ...silentLog, error: (message) => lines.push(message) }
  log = open(failures)
  database.exec('ALTER TABLE timeline RENAME TO elsewhere')
  log.record(createEntry('one'))
  expect(lines).toEqual(['failed to write an activity entry'])
  expect(appended).toEqual([])
  database.exec('ALTER TABLE elsewhere RENAME TO timeline')
  log.record(createEntry('two'))
  expect(all().map(({ sequence, summary }) => [sequence, summary])).toEqual([[1, 'two']])
})

test('rejects updates and deletions of entries', () => {
  log.record(createEntry('one'))
  expect(() => database.exec(`UPDATE timeline SET summary = 'x'`)).toThrow('the log only grows')
  expect(() => database.exec('DELETE FROM timeline')).toThrow('the log only grows')
})

test('stores synced entries and their sequence in one transaction', () => {
  log.follow('acct_1', { entries: [createEntry('one'), createEntry('two')], sequence: 7 })
  expect(log.records.findSyncedSequence('acct_1')).toBe(7)
  expect(appended).toEqual([2])
  database.exec(`CREATE TRIGGER broken BEFORE UPDATE ON followed_services BEGIN SELECT raise(ABORT, 'full'); END`)
  expect(() => log.follow('acct_1', { entries: [createEntry('three')], sequence: 8 })).toThrow('full')
  expect(all()).toHaveLength(2)
  database.exec('DROP TRIGGER broken')
  log.follow('acct_1', { entries: [createEntry('three')], sequence: 8 })
  expect(all().map(({ sequence, summary }) => [sequence, summary])).toEqual([
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ])
  log.follow('acct_1', { entries: [], sequence: 9 })
  expect(log.records.findSyncedSequence('acct_1')).toBe(9)
})

describe('a task', () => {
  const readTasks = () => all().map(({ task, links }) => [task, links === null ? null : JSON.parse(links)])

  test('records its id and links on entries written inside it', () => {
    const links = { conversation: 'chat_1', message: 'msg_1' }
    tasks.run({ id: 'chat:msg_1', links }, () => log.record({ ...createEntry('one'), links: { sandbox: 'sb_1' } }))
    log.record(createEntry('two'))
    expect(readTasks()).toEqual([
      ['chat:msg_1', { ...links, sandbox: 'sb_1' }],
      [null, null],
    ])
  })

  test('extends to later entries about its intent, across decisions and restarts', async () => {
    const links = { conversation: 'chat_1', message: 'msg_1' }
    const ask = { ...createEntry('asked'), links: { intent: 'int_1' } }
    tasks.run({ id: 'chat:msg_1', links }, () => log.record(ask))
    await log.close()
    log = open()
    tasks.run({ id: 'action:1', links: {} }, () =>
      log.record({ ...createEntry('approved'), links: { intent: 'int_1' } }),
    )
    log.record({ ...createEntry('paid'), links: { intent: 'int_1', payment: 'pay_1' } })
    log.record({ ...createEntry('settled'), links: { payment: 'pay_1' } })
    expect(readTasks()).toEqual([
      ['chat:msg_1', { ...links, intent: 'int_1' }],
      ['chat:msg_1', { ...links, intent: 'int_1' }],
      ['chat:msg_1', { ...links, intent: 'int_1', payment: 'pay_1' }],
      ['chat:msg_1', { ...links, intent: 'int_1', payment: 'pay_1' }],
    ])
    expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 4 })
  })

  test('is not inherited from a modified entry', () => {
    log.record({ ...createEntry('asked'), task: 'chat:msg_1', links: { intent: 'int_1' } })
    tamper(`UPDATE timeline SET task = 'chat:forged'`)
    log.record({ ...createEntry('approved'), links: { intent: 'int_1' } })
    expect(readTasks()[1]).toEqual([null, { intent: 'int_1' }])
  })

  test('is recorded for an entry of a transaction that ends later', async () => {
    tasks.run({ id: 'chat:msg_1', links: {} }, () => database.transaction(() => log.record(createEntry('one')))())
    await log.close()
    expect(readTasks()).toEqual([['chat:msg_1', null]])
  })

  test('redacts secrets in links', () => {
    log.record({ ...createEntry('one'), links: { payment: `0x${'ab'.repeat(32)}` } })
    expect(readTasks()).toEqual([[null, { payment: '[removed]' }]])
  })
})

describe('detects', () => {
  beforeEach(() => {
    for (const word of ['one', 'two', 'three', 'four', 'five', 'six']) {
      log.record({
        ...{ ...createEntry(word), subject: 'it', detail: { word, amount: 1, paid: false, by: null } },
        ...{ task: 'chat:msg_1', links: { intent: 'int_1' } },
      })
    }
  })
  const verify = async () => (await verifyRows(log)).problems.map(({ sequence, problem }) => `${sequence}: ${problem}`)

  test('a changed field in any row', async () => {
    const changes: Record<string, string[]> = {
      at_ms: ['at_ms + 1', '-at_ms', '9000000000000000'],
      kind: [`'system.stopped'`, `''`, `kind || ' '`],
      actor_kind: [`'person'`, `'nobody'`],
      actor_name: [`'You'`, `upper(actor_name)`],
      subject: ['NULL', `''`, `'IT'`],
      summary: [`summary || '.'`, `''`],
      detail: [
        `'{}'`,
        `''`,
        `'[]'`,
        `'null'`,
        `detail || ' '`,
        `replace(detail, '"amount":1', '"amount":1.0')`,
        `replace(detail, '"amount":1', '"amount":2')`,
        `replace(detail, '"amount":1', '"amount":"1"')`,
        `replace(detail, '"amount":1', '"amount":0,"amount":1')`,
        `replace(detail, 'null', '{}')`,
        `replace(detail, 'false', 'true')`,
        `substr(detail, 2)`,
      ],
      task: ['NULL', `'chat:msg_2'`, `''`],
      links: ['NULL', `'{}'`, `'{"intent":"int_2"}'`, `links || ' '`, `'{"intent":"int_1","x":"y"}'`, `'['`],
      previous_hash: [`replace(previous_hash, substr(previous_hash, 1, 1), 'x')`, `hash`, `hex(randomblob(32))`],
      hash: [`upper(hash || '') || ''`, `lower(hex(randomblob(32)))`],
      sequence: ['sequence + 100'],
    }
    await log.close()
    tamper('')
    for (const [column, values] of Object.entries(changes)) {
      for (const value of values) {
        for (let sequence = 1; sequence <= 6; sequence += 1) {
          database.exec('SAVEPOINT before')
          const { changes: rows } = database
            .prepare(`UPDATE timeline SET ${column} = ${value} WHERE sequence = ? AND ${column} IS NOT ${value}`)
            .run(sequence)
          const { ok, problems } = await verifyRows(log)
          database.exec('ROLLBACK TO before; RELEASE before')
          expect(ok, `${column} = ${value} of ${sequence}, changed ${rows}`).toBe(rows === 0)
          expect(problems.length > 0).toBe(rows > 0)
        }
      }
    }
    expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 6 })
  })

  test('rows that were removed', async () => {
    tamper('DELETE FROM timeline WHERE sequence IN (3, 4)')
    expect(await verify()).toEqual(['5: Before this entry, entries 3 to 4 are missing.'])
    tamper('DELETE FROM timeline WHERE sequence = 1')
    expect((await verify())[0]).toBe('2: Before this entry, entry 1 is missing.')
  })

  test('rows removed at the end, across a restart and further entries', async () => {
    tamper('DELETE FROM timeline WHERE sequence > 4')
    expect(await verify()).toEqual(['5: At the end, entries 5 to 6 are missing.'])
    await log.close()
    log = open()
    expect(await verify()).toEqual(['5: At the end, entries 5 to 6 are missing.'])
    log.record(createEntry('seven'))
    expect(await verify()).toEqual(['7: Before this entry, entries 5 to 6 are missing.'])
    await log.close()
    log = open()
    log.record(createEntry('eight'))
    expect(await verify()).toEqual(['7: Before this entry, entries 5 to 6 are missing.'])
  })

  test('a replaced end with valid hashes', async () => {
    await log.close()
    const head = readFileSync(join(folder, 'activity.head'), 'utf8')
    tamper('DELETE FROM timeline WHERE sequence > 4')
    writeFileSync(join(folder, 'activity.head'), 'lost')
    log = open()
    log.record(createEntry('another five'))
    log.record(createEntry('another six'))
    await log.close()
    writeFileSync(join(folder, 'activity.head'), head)
    log = open()
    const exchanged = '6: The entry was replaced: its hash differs from the stored one.'
    expect(await verify()).toEqual([exchanged])
    log.record(createEntry('seven'))
    await log.close()
    log = open()
    expect(await verify()).toEqual([
      '7: The entry does not follow entry 6: one of them was replaced, moved or inserted.',
    ])
  })

  test('an inserted row and continues after it', async () => {
    tamper(
      `INSERT INTO timeline SELECT 7, at_ms, kind, actor_kind, actor_name, subject, summary, detail, hash, '${'a'.repeat(64)}', task, links
       FROM timeline WHERE sequence = 6`,
    )
    log.record(createEntry('seven'))
    expect(all().map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await verify()).toEqual([
      '7: The entry was changed: it does not match its hash.',
      '8: The entry does not follow entry 7: one of them was replaced, moved or inserted.',
    ])
  })

  test('a valid row appended while the log is open or closed', async () => {
    const slipIn = () => {
      const last = all().at(-1)
      const row = truncateEntry(createEntry('forged'), {
        sequence: (last?.sequence ?? 0) + 1,
        previousHash: last?.hash ?? '',
        nowMs: Date.UTC(2026, 0, 2),
      })
      createTimelineRepository(database).add(row)
      return row.sequence
    }
    expect(slipIn()).toBe(7)
    expect(await verify()).toEqual(['7: Steward did not write this entry.'])
    tamper('DELETE FROM timeline WHERE sequence = 7')
    await log.close()
    slipIn()
    log = open()
    expect(await verify()).toEqual(['7: Steward did not write this entry.'])
    log.record(createEntry('eight'))
    const unlinked = '8: The entry does not follow entry 7: one of them was replaced, moved or inserted.'
    expect(await verify()).toEqual([unlinked])
    await log.close()
    log = open()
    expect(await verify()).toEqual([unlinked])
  })

  test('rows that were swapped', async () => {
    tamper(
      `UPDATE timeline SET sequence = 99 WHERE sequence = 3; UPDATE timeline SET sequence = 3 WHERE sequence = 2;
       UPDATE timeline SET sequence = 2 WHERE sequence = 99`,
    )
    const changed = 'The entry was changed: it does not match its hash.'
    expect((await verify()).slice(0, 2)).toEqual([`2: ${changed}`, `3: ${changed}`])
  })

  test('at most the first hundred problems in a log of several batches', async () => {
    for (let index = 0; index < 700; index += 1) log.record(createEntry(`entry ${index}`))
    tamper(`UPDATE timeline SET summary = 'x' WHERE sequence > 300`)
    const { ok, checked, problems } = await verifyRows(log)
    expect([ok, checked, problems.length, problems[0]?.sequence]).toEqual([false, 706, 100, 301])
  })
})
