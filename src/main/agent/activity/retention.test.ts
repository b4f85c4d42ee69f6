import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporaryFolder.ts'
import { silentLog } from '../../platform/log.ts'
import { migrate } from '../../storage/migrate.ts'
import { agentMigrations } from '../../storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '../../storage/openDatabase.ts'
import { type ActivitySettingsStore, activitySettings } from './activitySettings.ts'
import { type Retention, retention } from './retention.ts'
import { settingsRepository } from './settingsRepository.ts'
import { type Timeline, timeline } from './timeline.ts'
import { listedEntries } from './timelineReading.ts'
import { timelineRepository } from './timelineRepository.ts'
import { verifyRows } from './verifyRows.ts'
import { writtenEntry } from './writtenEntry.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
let folder: string
let database: Database
let log: Timeline
let settings: ActivitySettingsStore
let keeper: Retention
let nowMs: number

const open = () => {
  log = timeline({
    database,
    headPath: join(folder, 'activity.head'),
    now: () => nowMs,
    onAppended: () => {},
    log: silentLog,
  })
  settings = activitySettings({ settings: settingsRepository(database), note: log.note, now: () => nowMs })
  keeper = retention({ timeline: log, settings, now: () => nowMs, log: silentLog })
}
const close = async () => {
  await keeper.close()
  await log.close()
}
const system = { kind: 'system', name: 'Steward' } as const
const noted = (summary: string) => ({ kind: 'system.started', actor: system, summary })
const rows = () => log.records.following(0, 5_000)
const summaries = () => rows().map(({ summary }) => summary)
const problems = async () => (await verifyRows(log)).problems.map(({ sequence, problem }) => `${sequence}: ${problem}`)
const tamper = (sql: string) =>
  database.exec(`DROP TRIGGER IF EXISTS timeline_keeps_rows;
  DROP TRIGGER IF EXISTS timeline_keeps_words; ${sql}`)

beforeEach(() => {
  folder = temporaryFolder('retention')
  database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  nowMs = startMs
  open()
  for (let day = 0; day < 10; day += 1) {
    nowMs = startMs + day * dayMs
    log.note({ ...noted(`day ${day}`), links: { sandbox: 'atlas' } })
  }
})
afterEach(async () => {
  await close()
  database.close()
})

const cutTo = async (days: number) => {
  settings.change({ keep_entries_days: days })
  await keeper.apply()
}

test('keeps everything unless the settings say otherwise', async () => {
  nowMs += 10_000 * dayMs
  await keeper.apply()
  expect(rows()).toHaveLength(10)
})

test('cuts off what is older, says so in the log, and the rest proves itself', async () => {
  await cutTo(3)
  expect(summaries()).toEqual([
    'day 6',
    'day 7',
    'day 8',
    'day 9',
    'You changed what Activity keeps: entries for 3 days.',
    'Entries 1 to 6 were removed: older than the log is kept.',
  ])
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 6, cut_through: 6 })
  const found = await listedEntries(
    log.records,
    { search: 'atlas', order: 'newest', limit: 50 },
    new AbortController().signal,
  )
  expect(found.entries.map(({ sequence, problem }) => [sequence, problem])).toEqual([
    [10, null],
    [9, null],
    [8, null],
    [7, null],
  ])
  expect(database.prepare('SELECT count(*) AS count FROM timeline_links').get()).toEqual({ count: 4 })
})

test('cuts again and again, also when all is old, and after a restart', async () => {
  await cutTo(3)
  nowMs += 100 * dayMs
  await close()
  open()
  await keeper.apply()
  expect(summaries()).toEqual(['Entries 7 to 12 were removed: older than the log is kept.'])
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 1, cut_through: 12 })
  log.note(noted('goes on'))
  await close()
  open()
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 2 })
})

test('a stop in the middle of the removal is caught up', async () => {
  log.cut(startMs + 6 * dayMs)
  database.exec('DELETE FROM timeline WHERE sequence <= 3')
  expect(await problems()).toEqual([])
  await close()
  open()
  await keeper.apply()
  expect(summaries().slice(0, 2)).toEqual(['day 6', 'day 7'])
  expect(await problems()).toEqual([])
})

test('nothing else may be removed than what the log says was cut', async () => {
  await cutTo(3)
  expect(() => database.exec('DELETE FROM timeline WHERE sequence = 7')).toThrow('the log only grows')
})

test('a cut by hand is found: without an entry that says so, and beyond the one that does', async () => {
  tamper('DELETE FROM timeline WHERE sequence <= 4')
  expect(await problems()).toEqual(['5: Before it, the entries 1 to 4 are missing.'])
  const { entries } = await listedEntries(log.records, { order: 'newest', limit: 50 }, new AbortController().signal)
  expect(entries.at(-1)?.problem).toBe('Before it, the entries 1 to 4 are missing.')
  database.exec('DELETE FROM timeline WHERE sequence <= 5')
  expect(await problems()).toEqual(['6: Before it, the entries 1 to 5 are missing.'])
})

test('a cut that goes beyond what the log says is found', async () => {
  await cutTo(3)
  tamper('DELETE FROM timeline WHERE sequence = 7; UPDATE timeline_cut SET through_sequence = 7')
  expect(await problems()).toEqual(['8: Before it, the entries 1 to 7 are missing.'])
})

test('an entry that says more was cut than was, written by hand, is found', async () => {
  const forge = () => {
    const last = rows().at(-1)
    const eighth = log.records.find(8)
    timelineRepository(database).add(
      writtenEntry(
        {
          ...{ kind: 'log.cut', actor: system, summary: 'Entries 1 to 8 were removed.' },
          detail: { through_sequence: 8, through_hash: eighth?.hash ?? '', removed: 8 },
        },
        { sequence: (last?.sequence ?? 0) + 1, previousHash: last?.hash ?? '', nowMs },
      ),
    )
    tamper('DELETE FROM timeline WHERE sequence <= 8')
  }
  forge()
  expect(await problems()).toContain('11: It was not written here: it was slipped in.')
  // While it is closed too, and for ever.
  await close()
  open()
  expect(await problems()).toContain('11: It was not written here: it was slipped in.')
  log.note(noted('goes on'))
  expect((await problems()).length).toBeGreaterThan(0)
})

test('an entry about a cut that somebody changed proves nothing', async () => {
  await cutTo(3)
  tamper(`UPDATE timeline SET detail = replace(detail, '"through_sequence":6', '"through_sequence":8') WHERE kind = 'log.cut';
    DELETE FROM timeline WHERE sequence <= 8`)
  expect((await problems())[0]).toBe('9: Before it, the entries 1 to 8 are missing.')
})

test('what stands after the cut cannot be exchanged', async () => {
  await cutTo(3)
  await close()
  const head = readFileSync(join(folder, 'activity.head'), 'utf8')
  const seventh = rows()[0]
  tamper(`UPDATE timeline SET previous_hash = '${'a'.repeat(64)}' WHERE sequence = ${seventh?.sequence}`)
  writeFileSync(join(folder, 'activity.head'), head)
  open()
  expect(await problems()).toEqual(['7: It was changed after it was written: it does not match its hash.'])
})

test('a log that somebody changed is not cut: the traces stay', async () => {
  tamper(`UPDATE timeline SET summary = 'It was not.' WHERE sequence = 2`)
  await cutTo(3)
  expect(rows()).toHaveLength(11)
  expect(await problems()).toEqual(['2: It was changed after it was written: it does not match its hash.'])
})

test('many entries go in pieces', async () => {
  for (let index = 0; index < 1_200; index += 1) log.note(noted(`filler ${index}`))
  nowMs += 5 * dayMs
  log.note(noted('new'))
  await cutTo(1)
  expect(summaries()).toEqual([
    'new',
    'You changed what Activity keeps: entries for 1 day.',
    'Entries 1 to 1210 were removed: older than the log is kept.',
  ])
  expect(await problems()).toEqual([])
})
