import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServiceActivitySync } from '#agent/activity/serviceActivitySync.ts'
import { createTimeline, type Timeline } from '#agent/activity/timeline.ts'
import { createServiceClient } from '#agent/connections/serviceClient.ts'
import { silentLog } from '#platform/logging/log.ts'
import { Scope } from '#platform/program/scope.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createListening, type Listening } from '../support/fakes/listening.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

let scope: Scope
let server: Listening
let log: Timeline
/** Entries of the service, and the cursors that were requested. */
let stored: unknown[]
let cursors: number[]
/** Whether the service reports more entries but returns none. */
let isStalled = false
/** Whether the service ignores limits. */
let isUnbounded = false
/** Account of each response, in order. */
let accountIds = ['acc_1']
let warnings: string[]
const warn = (_: string, fields?: Readonly<Record<string, unknown>>): void => void warnings.push(String(fields?.error))
const events = createEmitter<LocalEvent>()
let nowMs = 0

beforeEach(async () => {
  scope = new Scope()
  stored = []
  warnings = []
  cursors = []
  accountIds = ['acc_1']
  isUnbounded = false
  server = scope.own(
    await createListening(createServer((request, response) => response.end(page(request.url ?? '')))),
    (it) => it.close(),
  )
  const folder = temporaryFolder('follower')
  const database = scope.own(openDatabase(`${folder}/agent.sqlite`), (it) => it.close())
  migrate(database, agentMigrations)
  const headPath = `${folder}/activity.head`
  log = scope.own(createTimeline({ database, headPath, now: Date.now, onAppended: () => {}, log: silentLog }), (it) =>
    it.close(),
  )
  const client = scope.own(
    createServiceClient(() => ({ url: server.url, key: 'sk', certificate: undefined })),
    (it) => it.close(),
  )
  const link = {
    subscribe: events.subscribe,
    status: () => ({ name: 'cloud', kind: 'hosted', url: server.url, state: 'connected', detail: null }) as const,
  }
  const pace = { burst: 6, perSecond: 1 / 60 }
  scope.own(
    createServiceActivitySync({ link, client, timeline: log, pace, now: () => nowMs, log: { ...silentLog, warn } }),
    (it) => it.close(),
  )
})
afterEach(() => scope.close())

function page(path: string): string {
  const { searchParams } = new URL(path, server.url)
  const after = Number(searchParams.get('after'))
  cursors.push(after)
  const account_id = accountIds[cursors.length % accountIds.length]
  if (isStalled) return JSON.stringify({ account_id: 'acc_1', activities: [], has_more: true })
  const count = isUnbounded ? stored.length : Math.min(Number(searchParams.get('limit')), 2)
  const activities = stored.slice(after, after + count)
  return JSON.stringify({ account_id, activities, has_more: after + activities.length < stored.length })
}

const activity = (sequence: number, changes: object = {}) => ({
  ...{ sequence, id: `act_${sequence}`, type: 'key.created', sandbox_id: null, sandbox_name: null },
  ...{ description: `Created the API key “${sequence}”.`, by: { kind: 'owner', name: null }, command: null },
  ...{ domain: null, terminal_id: null, charged_micro_usd: null, task: null, at: '2026-01-02T03:04:05.678Z' },
  ...changes,
})
const entries = () => log.records.following(0, 1000).map(({ kind, summary }) => ({ kind, summary }))

test('copies entries with an unknown type and an unknown kind of requester', async () => {
  stored = [
    activity(1, { type: 'sandbox.frozen', description: 'Froze the files.', by: { kind: 'robot', name: null } }),
    activity(2),
  ]
  events.emit({ type: 'ready' })
  await eventually(() =>
    expect(entries()).toEqual([
      { kind: 'service.sandbox.frozen', summary: 'Froze the files.' },
      { kind: 'key.created', summary: 'You created the API key “2”.' },
    ]),
  )
})

test('records an unreadable entry and continues after it', async () => {
  stored = [activity(1), { sequence: 2, of: 'another form' }, 'no entry', { of: 'another form' }, activity(5)]
  events.emit({ type: 'ready' })
  await eventually(() => expect(entries()).toHaveLength(5))
  expect(entries().map(({ kind }) => kind)).toEqual([
    'key.created',
    'service.unreadable',
    'service.unreadable',
    'service.unreadable',
    'key.created',
  ])
  expect(entries()[1]?.summary).toBe('An entry of cloud can’t be read: another version of Steward wrote it.')
  expect(log.records.findSyncedSequence('acc_1')).toBe(5)
  // The first page is requested only to learn the account.
  expect(cursors).toEqual([0, 0, 2, 4])
})

test('copies entries up to the rate limit and the rest later', async () => {
  stored = Array.from({ length: 9 }, (_, index) => activity(index + 1))
  events.emit({ type: 'ready' })
  await eventually(() => expect(cursors).toEqual([0, 0, 2, 4, 6]))
  expect(entries()).toHaveLength(6)
  events.emit({ type: 'activity.noted', sequence: 9 })
  await pause(500) // longer than the time in which a burst of events is collected
  expect(cursors).toEqual([0, 0, 2, 4, 6])
  nowMs += 120_000
  events.emit({ type: 'activity.noted', sequence: 9 })
  await eventually(() => expect(entries()).toHaveLength(8))
  nowMs += 60_000
  events.emit({ type: 'activity.noted', sequence: 9 })
  await eventually(() => expect(entries()).toHaveLength(9))
})

test('rejects a page with more entries than requested', async () => {
  isUnbounded = true
  stored = Array.from({ length: 501 }, (_, index) => activity(index + 1))
  events.emit({ type: 'ready' })
  await eventually(() => expect(warnings).toEqual(['Error: The service sent more entries than requested.']))
  expect(entries()).toEqual([])
})

test('does not repeat an empty page that reports more entries', async () => {
  isStalled = true
  events.emit({ type: 'ready' })
  await eventually(() => expect(cursors).toEqual([0, 0]))
  isStalled = false
  stored = [activity(1)]
  events.emit({ type: 'activity.noted', sequence: 1 })
  await eventually(() => expect(entries()).toHaveLength(1))
  expect(cursors).toEqual([0, 0, 0])
})

test('a service cannot write entries of kinds reserved for this computer', async () => {
  stored = [
    activity(1, { type: 'intent.signed', description: 'You approved a payment of $900.' }),
    activity(2, { type: 'wallet.removed', description: 'You removed “Phrase 1” from the wallet.' }),
  ]
  events.emit({ type: 'ready' })
  await eventually(() => expect(entries()).toHaveLength(2))
  expect(entries().map(({ kind }) => kind)).toEqual(['service.intent.signed', 'service.wallet.removed'])
})

test('stops after 200 pages if the service returns another account with each response', async () => {
  accountIds = ['acc_1', 'acc_2']
  stored = [activity(1)]
  events.emit({ type: 'ready' })
  await eventually(() => expect(warnings).toEqual(['Error: The service has more than 200 pages of activity.']))
  expect(cursors).toHaveLength(200)
})
