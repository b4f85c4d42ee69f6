import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { ActivitySettings } from '#shared/contract/activitySettings.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type ActivitySettingsStore, createActivitySettings } from './activitySettings.ts'
import { checkExport } from './exportCheck.ts'
import { createRetention, type Retention } from './retention.ts'
import { createSettingsRepository } from './settingsRepository.ts'
import { createTimeline, type Timeline } from './timeline.ts'
import { removeCut } from './timelineCut.ts'
import { formatJsonLines } from './timelineExport.ts'
import { exportEntries, listEntries } from './timelineReading.ts'
import { createTimelineRepository } from './timelineRepository.ts'
import { truncateEntry } from './truncateEntry.ts'
import { verifyRows } from './verifyRows.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
let folder: string
let database: Database
let log: Timeline
let settings: ActivitySettingsStore
let retention: Retention
let nowMs: number

const open = () => {
  log = createTimeline({
    database,
    headPath: join(folder, 'activity.head'),
    now: () => nowMs,
    onAppended: () => {},
    log: silentLog,
  })
  settings = createActivitySettings({
    settings: createSettingsRepository(database),
    recordActivity: log.record,
    now: () => nowMs,
  })
  retention = createRetention({ timeline: log, settings, passedMs: () => nowMs, log: silentLog })
}
const close = async () => {
  await retention.close()
  await log.close()
}
const system = { kind: 'system', name: 'Steward' } as const
const createEntry = (summary: string) => ({ kind: 'system.started', actor: system, summary })
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
    log.record({ ...createEntry(`day ${day}`), links: { sandbox: 'atlas' } })
  }
})
afterEach(async () => {
  await close()
  database.close()
})

const cutTo = async (days: number) => {
  settings.change({ keep_entries_days: days })
  await retention.apply()
}

test('removes no entries by default', async () => {
  nowMs += 10_000 * dayMs
  await retention.apply()
  expect(rows()).toHaveLength(10)
})

test('removes older entries, records the cut and verifies the rest', async () => {
  await cutTo(3)
  expect(summaries()).toEqual([
    'day 6',
    'day 7',
    'day 8',
    'day 9',
    'You changed the activity settings: entries are kept for 3 days.',
    'Entries 1 to 6 were removed: older than the retention period.',
  ])
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 6, cut_through: 6 })
  const entries = await listEntries(
    log.records,
    { search: 'atlas', order: 'newest', limit: 50 },
    new AbortController().signal,
  )
  expect(entries.entries.map(({ sequence, problem }) => [sequence, problem])).toEqual([
    [10, null],
    [9, null],
    [8, null],
    [7, null],
  ])
  expect(database.prepare('SELECT count(*) AS count FROM timeline_links').get()).toEqual({ count: 4 })
})

test('cuts repeatedly when all entries are old and after a restart', async () => {
  await cutTo(3)
  nowMs += 100 * dayMs
  await close()
  open()
  await retention.apply()
  expect(summaries()).toEqual(['Entries 7 to 12 were removed: older than the retention period.'])
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 1, cut_through: 12 })
  log.record(createEntry('goes on'))
  await close()
  open()
  expect(await verifyRows(log)).toMatchObject({ ok: true, checked: 2 })
})

test('finishes an interrupted removal after a restart', async () => {
  log.cut(startMs + 6 * dayMs)
  database.exec('DELETE FROM timeline WHERE sequence <= 3')
  expect(await problems()).toEqual([])
  await close()
  open()
  await retention.apply()
  expect(summaries().slice(0, 2)).toEqual(['day 6', 'day 7'])
  expect(await problems()).toEqual([])
})

test('rejects deletion of entries outside the recorded cut', async () => {
  await cutTo(3)
  expect(() => database.exec('DELETE FROM timeline WHERE sequence = 7')).toThrow('the log only grows')
})

test('detects entries deleted by hand without a recorded cut', async () => {
  tamper('DELETE FROM timeline WHERE sequence <= 4')
  expect(await problems()).toEqual(['5: Before this entry, entries 1 to 4 are missing.'])
  const { entries } = await listEntries(log.records, { order: 'newest', limit: 50 }, new AbortController().signal)
  expect(entries.at(-1)?.problem).toBe('Before this entry, entries 1 to 4 are missing.')
  database.exec('DELETE FROM timeline WHERE sequence <= 5')
  expect(await problems()).toEqual(['6: Before this entry, entries 1 to 5 are missing.'])
})

test('detects a cut beyond the recorded sequence', async () => {
  await cutTo(3)
  tamper('DELETE FROM timeline WHERE sequence = 7; UPDATE timeline_cut SET through_sequence = 7')
  expect(await problems()).toEqual(['8: Before this entry, entries 1 to 7 are missing.'])
})

test('detects a forged entry that claims a larger cut', async () => {
  const forge = () => {
    const last = rows().at(-1)
    const eighth = log.records.find(8)
    createTimelineRepository(database).add(
      truncateEntry(
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
  expect(await problems()).toContain('11: Steward did not write this entry.')
  // The problem is reported after reopening the log too, and permanently.
  await close()
  open()
  expect(await problems()).toContain('11: Steward did not write this entry.')
  log.record(createEntry('goes on'))
  expect((await problems()).length).toBeGreaterThan(0)
})

test('does not trust a modified cut entry', async () => {
  await cutTo(3)
  tamper(`UPDATE timeline SET detail = replace(detail, '"through_sequence":6', '"through_sequence":8') WHERE kind = 'log.cut';
    DELETE FROM timeline WHERE sequence <= 8`)
  expect((await problems())[0]).toBe('9: Before this entry, entries 1 to 8 are missing.')
})

test('detects a replaced entry right after the cut', async () => {
  await cutTo(3)
  await close()
  const head = readFileSync(join(folder, 'activity.head'), 'utf8')
  const seventh = rows()[0]
  tamper(`UPDATE timeline SET previous_hash = '${'a'.repeat(64)}' WHERE sequence = ${seventh?.sequence}`)
  writeFileSync(join(folder, 'activity.head'), head)
  open()
  expect(await problems()).toEqual(['7: The entry was changed: it does not match its hash.'])
})

test('does not cut a modified log and preserves the evidence', async () => {
  tamper(`UPDATE timeline SET summary = 'It was not.' WHERE sequence = 2`)
  await cutTo(3)
  expect(rows()).toHaveLength(11)
  expect(await problems()).toEqual(['2: The entry was changed: it does not match its hash.'])
})

test('removes many entries in batches', async () => {
  for (let index = 0; index < 1_200; index += 1) log.record(createEntry(`filler ${index}`))
  nowMs += 5 * dayMs
  log.record(createEntry('new'))
  await cutTo(1)
  expect(summaries()).toEqual([
    'new',
    'You changed the activity settings: entries are kept for 1 day.',
    'Entries 1 to 1210 were removed: older than the retention period.',
  ])
  expect(await problems()).toEqual([])
})

test('rejects an invalid number of days without cutting entries', async () => {
  for (const days of [0, -1, 1.5, 3_651, 1e308, '3', true, [3], Number.NaN, Number.POSITIVE_INFINITY]) {
    for (const field of ['keep_entries_days', 'keep_recordings_days']) {
      expect(ActivitySettings.partial().safeParse({ [field]: days }).success, `${field}: ${days}`).toBe(false)
    }
  }
  for (const days of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY]) {
    // The API validates these values earlier. The constraint of the table is the last check.
    expect(() => settings.change({ keep_recordings_days: days })).toThrow()
    if (!Number.isNaN(days)) expect(() => settings.change({ keep_entries_days: days })).toThrow()
  }
  await retention.apply()
  expect(rows()).toHaveLength(10)
  expect(settings.read()).toMatchObject({ keep_entries_days: null, keep_recordings_days: 14 })
  settings.change({ keep_entries_days: 3_650 })
  await retention.apply()
  expect(rows()).toHaveLength(11)
})

describe('a cut during', () => {
  beforeEach(() => {
    database.transaction(() => {
      for (let index = 0; index < 11_000; index += 1) log.record(createEntry(`filler ${index}`))
    })()
  })
  const signal = new AbortController().signal
  const cutAll = async (): Promise<void> => {
    nowMs += 5 * dayMs
    log.record(createEntry('new'))
    await cutTo(1)
  }

  test('an export leaves a verifiable export', async () => {
    const lines = formatJsonLines(exportEntries(log.records, {}))
    const input = Array.from({ length: 300 }, () => lines.next().value as string)
    await cutAll()
    input.push(...lines)
    const check = await checkExport(input.map((line) => line.trimEnd()))
    expect(check.problems).toEqual([])
    expect(check.ranges).toEqual([{ from: 1, to: 400 }])
  })

  /** Removes entries as `Retention` does, which first scans all rows. */
  const removing = (): Promise<void> => {
    nowMs += 5 * dayMs
    log.record(createEntry('new'))
    return removeCut(log.records, log.cut(nowMs - dayMs) ?? 0, signal)
  }

  test.each(['oldest', 'newest'] as const)('a search from the %s reports no false problem', async (order) => {
    // No index covers the requester, so the search reads rows in batches.
    const removed = removing()
    const { entries } = await listEntries(log.records, { actor: 'system', order, limit: 20_000 }, signal)
    expect(log.records.firstSequence()).toBeGreaterThan(501)
    expect(entries.filter(({ problem }) => problem !== null)).toEqual([])
    expect(entries.map(({ summary }) => summary)).toContain('new')
    await removed
  })

  test('a verification reports only entries deleted outside the cut', async () => {
    const checked = verifyRows(log)
    await removing()
    expect(await checked).toMatchObject({ ok: true, problems: [] })
    for (let index = 0; index < 1_000; index += 1) log.record(createEntry(`more ${index}`))
    const again = verifyRows(log)
    tamper('DELETE FROM timeline WHERE sequence <= (SELECT min(sequence) + 600 FROM timeline)')
    expect(await again).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringMatching(/^Before this entry, /) }],
    })
  })
})
