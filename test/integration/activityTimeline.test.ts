import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createServiceActivitySync } from '#agent/activity/serviceActivitySync.ts'
import { createTimeline, type Timeline } from '#agent/activity/timeline.ts'
import { createTimelineRoutes } from '#agent/activity/timelineRoutes.ts'
import { startLocalServer } from '#agent/api/localServer.ts'
import { createUserSessions } from '#agent/api/userSessions.ts'
import { createLocalEvents } from '#agent/base/localEvents.ts'
import { createServiceClient } from '#agent/connections/serviceClient.ts'
import { createServiceLink } from '#agent/connections/serviceLink.ts'
import { type Log, silentLog } from '#platform/logging/log.ts'
import { Scope } from '#platform/program/scope.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { openPersonSession, type PersonSession } from '../support/clients/personSession.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Log of the local agent behind the local API, and the entries that it copies from the real service. */
let service: TestService
let dataFolder: string
let key: string
let scope: Scope
let database: Database
let log: Timeline
let origin: string
let session: PersonSession
let warned: string[]

beforeAll(async () => {
  service = await runningService({ host: 'none' })
})
afterAll(() => service?.close())
beforeEach(async () => {
  dataFolder = temporaryFolder('agent')
  key = secondAccount(service.dataDir, { managesAccount: true }).key
  await startAgent()
})
afterEach(() => scope?.close())

async function startAgent(): Promise<void> {
  warned = []
  scope = new Scope()
  database = scope.own(openDatabase(join(dataFolder, 'agent.sqlite')), (it) => it.close())
  migrate(database, agentMigrations)
  const link = scope.own(createServiceLink({ name: 'This computer', kind: 'embedded', log: silentLog }), (it) =>
    it.close(),
  )
  const events = createLocalEvents(link)
  const client = scope.own(createServiceClient(link.target), (it) => it.close())
  const onAppended = (sequence: number) => events.publish({ type: 'timeline.appended', sequence })
  const headPath = join(dataFolder, 'activity.head')
  log = scope.own(createTimeline({ database, headPath, now: Date.now, onAppended, log: silentLog }), (it) => it.close())
  const warnings: Log = { ...silentLog, warn: (message) => warned.push(message) }
  scope.own(createServiceActivitySync({ link, client, timeline: log, now: Date.now, log: warnings }), (it) =>
    it.close(),
  )
  const pagesFolder = join(dataFolder, 'pages')
  mkdirSync(pagesFolder, { recursive: true })
  const sessions = createUserSessions()
  const server = scope.own(
    await startLocalServer({
      address: { host: '127.0.0.1', port: 0 },
      pagesFolder,
      link,
      sessions,
      events,
      endpoints: createTimelineRoutes(log, () => new Map()),
      identifyClient: async () => ({ kind: 'client', id: 'key_1', name: 'a script' }),
      status: { version: '1.2.3', shell: 'browser', platform: 'linux' },
      log: silentLog,
    }),
    (it) => it.close(),
  )
  origin = `http://127.0.0.1:${server.port}`
  link.connect({ url: service.url, key, certificate: undefined })
  session = await openPersonSession(origin, sessions.issueToken())
}

const ask = (path: string, headers: Record<string, string> = session) => fetch(`${origin}${path}`, { headers })
async function get(path: string): Promise<Json> {
  const answer = await ask(path)
  expect(answer.status).toBe(200)
  return answer.json()
}
const makeKey = async (name: string): Promise<string> =>
  (await service.send('/v1/auth/api-keys', { key, body: { name } })).json.id
const summaries = () => log.records.following(0, 1000).map(({ summary }) => summary)
const describeCreated = (name: string) => expect.stringContaining(`the API key “${name}”`)
const toEntry = (summary: string) => ({ kind: 'test.noted', actor: { kind: 'person', name: 'You' } as const, summary })

test('copies service activity once and in order across restarts and disconnects', async () => {
  await makeKey('one')
  await eventually(() => expect(summaries()).toEqual([describeCreated('one')]))
  await makeKey('two')
  await makeKey('three')
  await eventually(() =>
    expect(summaries()).toEqual([describeCreated('one'), describeCreated('two'), describeCreated('three')]),
  )
  await scope.close()
  await makeKey('four')
  await startAgent()
  await makeKey('five')
  await eventually(() => expect(summaries()).toHaveLength(5))
  expect(summaries()).toEqual(['one', 'two', 'three', 'four', 'five'].map(describeCreated))
  const { entries } = await get('/local/activity?limit=1')
  expect(entries[0]).toMatchObject({
    kind: 'key.created',
    actor: { kind: 'person', name: 'You' },
    subject: null,
    summary: expect.stringMatching(/^You created the API key “five”/),
    detail: { service: 'This computer', service_sequence: 5 },
  })
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, checked: 5, problems: [] })
})

test('reads activity again in full after a failed write', async () => {
  await makeKey('one')
  await eventually(() => expect(summaries()).toHaveLength(1))
  database.exec(`CREATE TRIGGER broken BEFORE UPDATE ON followed_services BEGIN SELECT raise(ABORT, 'full'); END`)
  await makeKey('two')
  await eventually(() => expect(warned).toContain('failed to read service activity'))
  expect(summaries()).toHaveLength(1)
  database.exec('DROP TRIGGER broken')
  await makeKey('three')
  await eventually(() => expect(summaries()).toEqual(['one', 'two', 'three'].map(describeCreated)))
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, checked: 3 })
})

test('reads another account from its start and resumes the first one', async () => {
  const first = key
  await makeKey('one')
  await eventually(() => expect(summaries()).toHaveLength(1))
  await scope.close()
  key = secondAccount(service.dataDir, { managesAccount: true }).key
  await makeKey('of another')
  await startAgent()
  await eventually(() => expect(summaries()).toEqual(['one', 'of another'].map(describeCreated)))
  await scope.close()
  key = first
  await makeKey('two')
  await startAgent()
  await eventually(() => expect(summaries()).toEqual(['one', 'of another', 'two'].map(describeCreated)))
})

test('names the key and command of a program and redacts secrets', async () => {
  const program = (await service.send('/v1/auth/api-keys', { key, body: { name: 'research-agent' } })).json
  const { account_id } = (await service.send('/v1/activity?limit=1', { key })).json
  const records = openDatabase(join(service.dataDir, 'service.sqlite'))
  records
    .prepare(
      `INSERT INTO account_activities (account_id, sequence, id, type, sandbox_id, sandbox_name, description, at_ms, by_kind, by_name, command)
       VALUES (?, 2, 'act_run', 'command.run', 'sandbox', 'atlas', 'Ran a command: exit code 0 after 9 ms.', 1, 'key', 'research-agent', ?)`,
    )
    .run(account_id, `curl -H "x-api-key: ${program.key}" example.com`)
  records.close()
  await makeKey('later') // indicates that more entries follow
  await eventually(() => expect(summaries()).toHaveLength(3))
  const { entries } = await get('/local/activity?search=example.com')
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    kind: 'command.run',
    actor: { kind: 'client', name: 'research-agent' },
    summary: expect.stringMatching(/^research-agent ran “curl -H .* example\.com” in atlas: exit code 0 after 9 ms\.$/),
    detail: { command: expect.stringContaining('[removed]') },
  })
  expect(JSON.stringify(entries)).not.toContain(program.key)
})

test('reports the number of entries that the service deleted before they were read', async () => {
  await scope.close()
  for (const name of ['one', 'two', 'three']) await makeKey(name)
  await service.send('/v1/activity?after=0&limit=1') // waits until all entries are written
  const records = openDatabase(join(service.dataDir, 'service.sqlite'))
  records
    .prepare(`DELETE FROM account_activities WHERE sequence < 3 AND description NOT LIKE '%two%' OR sequence = 2`)
    .run()
  records.close()
  await startAgent()
  await eventually(() => expect(summaries()).toHaveLength(2))
  expect(summaries()).toEqual([
    '2 earlier entries of This computer are missing here: the service has already deleted them.',
    describeCreated('three'),
  ])
})

test('only the user session reads the activity log', async () => {
  for (const path of ['/local/activity', '/local/activity/verify', '/local/activity/export']) {
    expect((await ask(path, {})).status).toBe(401)
    const withKey = await ask(path, { ...session, authorization: `Bearer ${key}` })
    expect(withKey.status).toBe(403)
    expect(await withKey.json()).toMatchObject({ code: 'auth/forbidden' })
  }
})

test('finds entries by text and attributes in pages, newest first', async () => {
  const atHour = (hour: number) => Date.UTC(2026, 0, 1, hour)
  const add = (kind: string, summary: string, more: object = {}) => log.record({ ...toEntry(summary), kind, ...more })
  add('intent.asked', 'Sign in to example.com', { atMs: atHour(1), detail: { host: 'example.com' } })
  add('intent.signed', 'Signed in to example.com', { atMs: atHour(2), subject: 'int_1' })
  add('intents.other', '100% of another area_x', { atMs: atHour(3) })
  add('wallet.unlocked', 'The wallet was unlocked', {
    atMs: atHour(4),
    actor: { kind: 'client', name: 'Ada’s script' },
  })
  const searchEntries = async (query: string): Promise<number[]> =>
    (await get(`/local/activity?${query}`)).entries.map(({ sequence }: Json) => sequence)
  expect(await searchEntries('')).toEqual([4, 3, 2, 1])
  expect(await searchEntries('search=SIGN%20example')).toEqual([2, 1])
  expect(await searchEntries('search=int_1')).toEqual([2])
  expect(await searchEntries('search=script')).toEqual([4])
  expect(await searchEntries('search=100%25')).toEqual([3])
  expect(await searchEntries('search=area_')).toEqual([3])
  expect(await searchEntries('search=%25%25')).toEqual([])
  expect(await searchEntries('kinds=intent')).toEqual([2, 1])
  expect(await searchEntries('kinds=intent.signed,%20wallet')).toEqual([4, 2])
  expect(await searchEntries('actor=client')).toEqual([4])
  expect(await searchEntries(`from=2026-01-01T02:00:00.000Z&to=2026-01-01T04:00:00.000Z`)).toEqual([3, 2])
  expect(await get('/local/activity?limit=2')).toMatchObject({ has_more: true })
  expect(await searchEntries('limit=2')).toEqual([4, 3])
  expect(await get('/local/activity?limit=2&before=3')).toMatchObject({
    has_more: false,
    entries: [{ sequence: 2 }, { sequence: 1 }],
  })
  for (const query of ['limit=0', 'limit=501', 'actor=nobody', 'from=yesterday', 'before=0']) {
    expect((await ask(`/local/activity?${query}`)).status, query).toBe(400)
  }
})

test('CSV is sorted by time and JSON Lines by chain order', async () => {
  const atMs = Date.UTC(2026, 0, 1)
  log.record({ ...toEntry('asked to delete atlas'), atMs: atMs + 2_000 })
  log.follow('acc_other', { entries: [{ ...toEntry('created atlas'), atMs }], sequence: 1 })
  log.record({ ...toEntry('called sandbox_create'), tookMs: 60_000 })
  log.record(toEntry('said so'))
  const inLines = async (format: string) =>
    (await (await ask(`/local/activity/export?format=${format}`)).text()).match(
      /asked to delete|created atlas|called|said so/g,
    )
  await eventually(async () => expect(await inLines('jsonl')).toHaveLength(4))
  expect(await inLines('jsonl')).toEqual(['asked to delete', 'created atlas', 'called', 'said so'])
  expect(await inLines('csv')).toEqual(['created atlas', 'asked to delete', 'called', 'said so'])
  const { entries } = await get('/local/activity?limit=2')
  expect(Date.parse(entries[0].at) - Date.parse(entries[1].at)).toBeGreaterThanOrEqual(60_000)
  expect((await get('/local/activity/verify')).ok).toBe(true)
})

test('filters do not change the state of a request', async () => {
  const request = (id: string, kind: string, actor: object) =>
    log.record({
      ...toEntry(`${kind} ${id}`),
      kind,
      subject: id,
      links: { intent: id },
      detail: { intent_id: id },
      ...actor,
    })
  const program = { actor: { kind: 'client', name: 'claude-code' } as const }
  for (const id of ['int_1', 'int_2', 'int_3']) request(id, 'intent.asked', program)
  request('int_1', 'intent.approved', {})
  request('int_1', 'intent.signed', { actor: { kind: 'system', name: 'Steward' } })
  request('int_2', 'intent.denied', {})
  for (const query of ['actor=client', 'search=asked', 'kinds=intent']) {
    expect((await get(`/local/activity?${query}`)).request_states, query).toEqual({
      ...{ int_1: 'intent.signed', int_2: 'intent.denied', int_3: 'intent.asked' },
    })
  }
})

test('lists a changed row with its problem and detects it', async () => {
  for (const word of ['one', 'two', 'three', 'four']) log.record(toEntry(word))
  database.exec(`DROP TRIGGER timeline_keeps_words; DROP TRIGGER timeline_keeps_rows;
    UPDATE timeline SET detail = 'no JSON' WHERE sequence = 2; DELETE FROM timeline WHERE sequence = 3`)
  const { entries } = await get('/local/activity')
  expect(entries.map(({ sequence, problem }: Json) => [sequence, problem])).toEqual([
    [4, 'Before this entry, entry 3 is missing.'],
    [2, 'The entry was changed: its detail is not the original JSON.'],
    [1, null],
  ])
  const { ok, problems } = await get('/local/activity/verify')
  expect([ok, problems.map(({ sequence }: Json) => sequence)]).toEqual([false, [2, 4]])
})

test('reads and searches a long log completely', async () => {
  database.transaction(() => {
    for (let index = 1; index <= 12_000; index += 1) log.record(toEntry(index === 3 ? 'the needle' : 'hay'))
  })()
  expect((await get('/local/activity?search=needle')).entries).toMatchObject([{ sequence: 3 }])
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, checked: 12_000 })
})

const readDocument = (): string => {
  const text = readFileSync(join(projectFolder, 'docs', 'activity.md'), 'utf8')
  return /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
}

test('the documented script verifies a JSON Lines export', async () => {
  for (let index = 1; index <= 450; index += 1) {
    log.record({ ...toEntry(`=entry ${index}, “ü”\n"2"`), detail: { count: index, b: null, a: 'x', 10: 1, 9: 2 } })
  }
  const script = join(dataFolder, 'check.mjs')
  const file = join(dataFolder, 'log.jsonl')
  writeFileSync(script, readDocument())
  const check = (): string =>
    execFileSync(process.execPath, [script, file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const answer = await ask('/local/activity/export')
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="steward-activity.jsonl"')
  const text = await answer.text()
  writeFileSync(file, text)
  expect(check()).toBe(`450 entries are intact; the last is 450 with ${log.head()?.hash}.\n`)
  writeFileSync(file, await (await ask('/local/activity/export?search=44')).text())
  expect(check()).toContain(' entries are intact; the last is 449 ')
  writeFileSync(file, text.replace('entry 30,', 'entry 31,'))
  expect(check).toThrow('Entry 30 was changed.')
  const lines = text.split('\n')
  writeFileSync(
    file,
    [...lines.slice(0, 9), lines[9]?.replace('"sequence":10', '"sequence":11'), ...lines.slice(10)].join('\n'),
  )
  expect(check).toThrow('Entry 11 was changed.')
})

test('a CSV export escapes formulas and preserves every cell', async () => {
  const summaries = ['=1+1', '+1', '-1', '@x', '\tx', "'=x", "it's", 'a,b', 'say "hi"', 'two\r\nlines', '\rx', 'plain']
  for (const summary of summaries) log.record({ ...toEntry(summary), detail: { summary } })
  const answer = await ask('/local/activity/export?format=csv')
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head, ...rows] = csvRows(await answer.text())
  expect(head?.join()).toBe(
    'sequence,at,kind,actor_kind,actor_name,subject,summary,detail,task,links,previous_hash,hash',
  )
  for (const row of rows) for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
  expect(rows.map((row) => row[6]?.replace(/^'/, ''))).toEqual(summaries)
  expect(rows.map((row) => JSON.parse(row[7] ?? ''))).toEqual(summaries.map((summary) => ({ summary })))
})

test('the command verifies an export without the original log', async () => {
  for (const word of ['one', 'two', 'three'])
    log.record({ ...toEntry(word), task: 'chat:msg_1', links: { intent: 'int_1' } })
  const file = join(dataFolder, 'export.jsonl')
  const text = await (await ask('/local/activity/export')).text()
  writeFileSync(file, text)
  const run = (...more: string[]) =>
    spawnSync(process.execPath, [join(projectFolder, 'scripts/start.ts'), 'verify', ...more], { encoding: 'utf8' })
  expect(run(file)).toMatchObject({
    status: 0,
    stdout: `3 entries are intact.\nLast entry: 3, hash ${log.head()?.hash}.\n`,
  })
  writeFileSync(file, text.replace('"intent":"int_1"', '"intent":"int_2"'))
  expect(run(file)).toMatchObject({
    status: 1,
    stdout: 'The export was changed:\n  line 1: Entry 1 was changed: it does not match its hash.\n',
  })
  expect(run(join(dataFolder, 'nowhere')).stderr).toMatch(/cannot be read/)
  expect(run().status).not.toBe(0)
})

function csvRows(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}
