import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { type ActivityBy, activityLimits, maxAccountActivities } from '#shared/contract/activity.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import { AccountId, SandboxId, TerminalId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import type { SequencedEntry } from './accountActivityRepository.ts'
import { type ActivityLog, createActivityLog, cutText } from './activityLog.ts'

const [first, second] = ['a', 'b'].map((digit) => SandboxId.parse(digit.repeat(32))) as [SandboxId, SandboxId]
const removeSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')
let database: Database
let store: Store
let log: ActivityLog
let nowMs: number
let recorded: SequencedEntry[]
let by: ActivityBy
let task: TaskId | null
const plain = { domain: null, terminalId: null, chargedMicroUsd: null, task: null }

beforeEach(() => {
  database = openDatabase(join(temporaryFolder('activity'), 'data.sqlite'))
  migrate(database, serviceMigrations)
  store = createSqliteStore(database)
  database.exec(`INSERT INTO accounts VALUES ('ada', 'owner', 'Ada', 0)`)
  for (const id of [first, second]) {
    database
      .prepare(
        `INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, enforced, status, created_at_ms)
         VALUES (?, 'ada', 'one', 1, 512, 1, 'eu-north', 'bubblewrap', '{}', 'stopped', 0)`,
      )
      .run(id)
  }
  let idCount = 0
  nowMs = 1_000
  recorded = []
  by = { kind: 'service', name: null }
  task = null
  log = createActivityLog({
    store,
    newId: () => `act_${++idCount}`,
    now: () => nowMs,
    onRecorded: (it) => recorded.push(it),
    by: () => by,
    task: () => task,
    log: silentLog,
  })
})
afterEach(async () => {
  await log.close()
  await store.close()
  database.close()
})

test('lists the newest first, by insertion order for equal times', async () => {
  log.note(first, { type: 'sandbox.created', description: 'first' })
  log.note(first, { type: 'sandbox.started', description: 'second' })
  log.note(first, { type: 'terminal.closed', description: 'long ago', atMs: 5 })
  log.note(second, { type: 'sandbox.created', description: 'of another' })
  expect((await log.activities(first, 50)).map(({ description }) => description)).toEqual([
    'second',
    'first',
    'long ago',
  ])
  expect(await log.activities(first, 1)).toEqual([
    { id: 'act_2', type: 'sandbox.started', description: 'second', by, atMs: 1_000 },
  ])
})

test('records a one-time event only once', async () => {
  for (const subject of ['pty_1', 'pty_2', 'pty_1']) {
    log.note(first, { type: 'terminal.closed', subject, description: subject })
  }
  expect((await log.activities(first, 50)).map(({ description }) => description)).toEqual(['pty_2', 'pty_1'])
})

test('stores a command and shows its text only in the account feed', async () => {
  log.ran(first, { command: 'echo secret', exitCode: 3, durationMs: 12.4 })
  expect(await log.commands(first, 50)).toEqual([{ command: 'echo secret', exitCode: 3, durationMs: 12, atMs: 1_000 }])
  expect(await log.activities(first, 50)).toEqual([
    { id: 'act_1', type: 'command.run', description: 'Ran a command: exit code 3 after 12 ms.', by, atMs: 1_000 },
  ])
})

test('keeps the newest entries of each sandbox', async () => {
  log.ran(second, { command: 'of another', exitCode: 0, durationMs: 0 })
  for (let index = 0; index <= activityLimits.maxStored; index += 1) {
    nowMs += 1
    log.ran(first, { command: `command ${index}`, exitCode: 0, durationMs: 0 })
  }
  const commands = await log.commands(first, 5_000)
  expect(commands).toHaveLength(activityLimits.maxStored)
  expect([commands.at(0)?.command, commands.at(-1)?.command]).toEqual(['command 1000', 'command 1'])
  expect(await log.activities(first, 5_000)).toHaveLength(activityLimits.maxStored)
  expect(await log.commands(second, 5_000)).toHaveLength(1)
})

test('drops entries for a deleted sandbox and removes its stored ones', async () => {
  log.note(first, { type: 'sandbox.created', description: 'first' })
  log.ran(first, { command: 'true', exitCode: 0, durationMs: 0 })
  await remove(first)
  log.ran(first, { command: 'true', exitCode: 0, durationMs: 0 })
  await log.close()
  for (const table of ['sandbox_activities', 'sandbox_commands']) {
    expect(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 })
  }
})

/** Removes a sandbox, in the order of the calls. */
async function remove(id: SandboxId): Promise<void> {
  await store.write((tx) => tx.run(removeSandbox, { id }))
}

describe('the account feed', () => {
  const ada = AccountId.parse('ada')
  const feed = async (after = 0) => (await log.ofAccount(ada, after, 5)).map(({ sequence, type }) => [sequence, type])

  test('lists events of every sandbox in recorded order, even after deletion', async () => {
    by = { kind: 'key', name: 'ci' }
    log.note(first, { type: 'sandbox.created', description: 'It was created.', atMs: 5 })
    by = { kind: 'service', name: null }
    log.ran(second, { command: 'echo secret', exitCode: 0, durationMs: 1 })
    await remove(first)
    log.recordForAccount(ada, {
      type: 'sandbox.deleted',
      description: 'It was deleted.',
      sandbox: { id: first, name: 'one' },
    })
    log.recordForAccount(ada, { type: 'key.created', description: 'A key was created.' })
    expect(await log.ofAccount(ada, 0, 5)).toEqual([
      {
        sequence: 1,
        id: 'act_1',
        type: 'sandbox.created',
        sandboxId: first,
        sandboxName: 'one',
        description: 'It was created.',
        by: { kind: 'key', name: 'ci' },
        command: null,
        ...plain,
        atMs: 5,
      },
      {
        sequence: 2,
        id: 'act_2',
        type: 'command.run',
        sandboxId: second,
        sandboxName: 'one',
        description: 'Ran a command: exit code 0 after 1 ms.',
        by,
        command: 'echo secret',
        ...plain,
        atMs: 1_000,
      },
      {
        sequence: 3,
        id: 'act_3',
        type: 'sandbox.deleted',
        sandboxId: first,
        sandboxName: 'one',
        description: 'It was deleted.',
        by,
        command: null,
        ...plain,
        atMs: 1_000,
      },
      {
        sequence: 4,
        id: 'act_4',
        type: 'key.created',
        sandboxId: null,
        sandboxName: null,
        description: 'A key was created.',
        by,
        command: null,
        ...plain,
        atMs: 1_000,
      },
    ])
    expect(await feed(2)).toEqual([
      [3, 'sandbox.deleted'],
      [4, 'key.created'],
    ])
    expect(recorded).toEqual([1, 2, 3, 4].map((sequence) => ({ accountId: 'ada', sequence })))
  })

  test('includes the task, subject and credit cost of an activity', async () => {
    task = 'chat:msg_1'
    const terminalId = TerminalId.parse(`pty_${'a'.repeat(24)}`)
    log.note(first, { type: 'terminal.opened', description: 'x', terminalId })
    log.recordForAccount(ada, { type: 'credits.sent', description: 'x', chargedMicroUsd: 5 })
    log.recordForAccount(ada, { type: 'name.registered', description: 'x', domain: 'a.example' })
    expect(await log.ofAccount(ada, 0, 5)).toMatchObject([
      { ...plain, task, terminalId },
      { ...plain, task, chargedMicroUsd: 5 },
      { ...plain, task, domain: 'a.example' },
    ])
  })

  test('numbers entries per account and records a one-time event once', async () => {
    database.exec(`INSERT INTO accounts VALUES ('bob', 'user', 'Bob', 0)`)
    log.note(first, { type: 'terminal.closed', description: 'x', subject: 'pty_1' })
    log.note(first, { type: 'terminal.closed', description: 'x', subject: 'pty_1' })
    log.recordForAccount(AccountId.parse('bob'), { type: 'account.created', description: 'x' })
    log.recordForAccount(AccountId.parse('nobody'), { type: 'account.created', description: 'x' })
    await log.close()
    expect(recorded).toEqual([
      { accountId: 'ada', sequence: 1 },
      { accountId: 'bob', sequence: 1 },
    ])
  })

  test('keeps the newest entries and reveals missing ones by their number', async () => {
    for (let index = 0; index < maxAccountActivities + 2; index += 1) {
      log.recordForAccount(ada, { type: 'auth.signed_in', description: 'x' })
    }
    expect((await feed())[0]).toEqual([3, 'auth.signed_in'])
    expect(await log.ofAccount(ada, 0, 20_000)).toHaveLength(maxAccountActivities)
  })
})

test('a failed write does not fail the recorded work', async () => {
  database.exec('DROP TABLE sandbox_commands')
  log.ran(first, { command: 'true', exitCode: 0, durationMs: 0 })
  expect(await log.activities(first, 50)).toHaveLength(1)
})

test.each(['é', '€', '😀'])('truncates a long text before the %s that does not fit', (character) => {
  const bytes = activityLimits.commandBytes
  const size = Buffer.byteLength(character)
  expect(cutText('x'.repeat(bytes - size) + character)).toBe('x'.repeat(bytes - size) + character)
  for (let short = 1; short < size; short += 1) {
    expect(cutText(`${'x'.repeat(bytes - short)}${character}`)).toBe('x'.repeat(bytes - short))
  }
})
