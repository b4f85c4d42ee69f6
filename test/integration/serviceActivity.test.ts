import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Usage, log and name of a sandbox, with the real service and host. */
let service: TestService
let id: string
let sandbox: string

beforeAll(async () => {
  service = await runningService()
  id = await create('watched')
  sandbox = `/v1/sandboxes/${id}`
})
afterAll(() => service?.close())

async function create(name: string): Promise<string> {
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name, memory_mb: 1024, disk_gb: 2 } })
  expect(status, text).toBe(201)
  return String(json.id)
}

async function get(path: string): Promise<Json> {
  const { status, json, text } = await service.send(path)
  expect(status, text).toBe(200)
  return json
}

const exec = (command: string) => service.send(`${sandbox}/exec`, { body: { command, timeout: 300 } })
const listTypes = async (path = sandbox): Promise<string[]> =>
  (await get(`${path}/activity?limit=500`)).activities.map(({ type }: { type: string }) => type)

test('measures the usage of a sandbox and its limits', async () => {
  const idle = await get(`${sandbox}/metrics`)
  expect(idle).toMatchObject({ memory_limit_mb: 1024, disk_limit_mb: 2048 })
  expect(idle.processes).toBeGreaterThanOrEqual(1)
  expect(idle.memory_used_mb).toBeLessThan(200)
  const hungry = await service.send(`${sandbox}/pty`, {
    body: {
      command: `sleep 1000 & sleep 1000 & sleep 1000 & exec perl -e 'my $held = "x" x shift; print "full\\n"; 1 while 1' 100000000`,
    },
  })
  const terminal = `${sandbox}/pty/${hungry.json.session_id}`
  await until('it to be full', async () => (await get(`${terminal}/read`)).output.includes('full'))
  await until('its work to show', async () => (await get(`${sandbox}/metrics`)).cpu_percent > 5)
  const full = await get(`${sandbox}/metrics`)
  expect(full.memory_used_mb - idle.memory_used_mb).toBeGreaterThan(85)
  expect(full.processes).toBeGreaterThan(idle.processes)
  expect(full.uptime_seconds).toBeGreaterThan(idle.uptime_seconds)
  expect(Date.parse(full.at)).toBeGreaterThan(Date.parse(idle.at))
  await service.send(terminal, { method: 'DELETE' })
  await until('it to be gone', async () => {
    const after = await get(`${sandbox}/metrics`)
    return after.processes < full.processes && after.memory_used_mb < full.memory_used_mb - 85
  })
})

test('the measured disk usage grows with the files', async () => {
  await until('a first count', async () => (await get(`${sandbox}/metrics`)).disk_used_mb !== null)
  const before = await get(`${sandbox}/metrics`)
  await exec('head -c 30000000 /dev/urandom > /root/large')
  await until('it to be counted', async () => {
    const after = await get(`${sandbox}/metrics`)
    return after.disk_used_mb - before.disk_used_mb > 28
  })
})

test('lists executed commands newest first and truncates long ones', async () => {
  await exec('exit 7')
  await exec(`: ${'é'.repeat(5_000)}`)
  const { commands } = await get(`${sandbox}/commands?limit=2`)
  expect(commands).toEqual([
    { command: `: ${'é'.repeat(2_047)}`, exit_code: 0, duration_ms: expect.any(Number), at: expect.any(String) },
    { command: 'exit 7', exit_code: 7, duration_ms: expect.any(Number), at: expect.any(String) },
  ])
})

test('describes events without contents, commands or secrets', async () => {
  const watched = await create('eventful')
  const path = `/v1/sandboxes/${watched}`
  const content = 'contents of a file'
  await service.send(`${path}/files`, { body: { path: '/root/note.txt', content } })
  await service.send(`${path}/exec`, {
    body: { command: 'echo word-of-a-command', env: { TOKEN: 'word-of-a-secret' } },
  })
  const opened = await service.send(`${path}/pty`, { body: { command: 'echo word-of-a-terminal; exit 4' } })
  await until('it to be closed', async () => (await listTypes(path)).includes('terminal.closed'))
  await service.send(`${path}/stop`, { method: 'POST' })
  const { activities } = await get(`${path}/activity`)
  expect(await listTypes(path)).toEqual([
    'sandbox.stopped',
    'terminal.closed',
    'terminal.opened',
    'command.run',
    'file.written',
    'sandbox.started',
    'sandbox.created',
  ])
  const descriptions = activities.map(({ description }: { description: string }) => description)
  expect(descriptions[0]).toBe('Stopped.')
  expect(descriptions[1]).toBe(`Terminal ${opened.json.session_id.slice(-6)} ended with exit code 4.`)
  expect(descriptions[4]).toBe('Wrote /root/note.txt (18 bytes).')
  expect(new Set(activities.map((it: { id: string }) => it.id)).size).toBe(activities.length)
  expect(JSON.stringify(activities)).not.toMatch(/word-of|contents of/)

  const metrics = await service.send(`${path}/metrics`)
  expect(metrics).toMatchObject({ status: 409, json: { code: 'sandbox/not-running' } })
  expect((await service.send(path, { method: 'DELETE' })).status).toBe(200)
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    for (const table of ['sandbox_activities', 'sandbox_commands']) {
      const rows = database.prepare(`SELECT count(*) AS count FROM ${table} WHERE sandbox_id = ?`).get(watched)
      expect(rows).toEqual({ count: 0 })
    }
  } finally {
    database.close()
  }
})

test('serves an account-wide feed from a cursor and notifies all listeners', async () => {
  const last = async () => (await get('/v1/activity?limit=500')).activities.at(-1)?.sequence ?? 0
  const before = await last()
  const events: Json[] = []
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/events`, {
    headers: { authorization: `Bearer ${service.key}` },
  })
  try {
    socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString('utf8'))))
    await until('the first message', () => events.length > 0)
    const removedSandbox = await create('short-lived')
    await service.send(`/v1/sandboxes/${removedSandbox}`, { method: 'DELETE' })
    const created = await service.send('/v1/auth/api-keys', { body: { name: 'for a script' } })
    await service.send(`/v1/auth/api-keys/${created.json.id}`, { method: 'DELETE' })
    const { account_id, activities, has_more } = await get(`/v1/activity?after=${before}`)
    const key = `the API key “for a script” (${created.json.key_prefix}…).`
    expect(
      activities.map(({ type, sandbox_id, sandbox_name, description }: Json) => [
        type,
        sandbox_id,
        sandbox_name,
        description,
      ]),
    ).toEqual([
      ['sandbox.created', removedSandbox, 'short-lived', 'Created.'],
      ['sandbox.started', removedSandbox, 'short-lived', 'Started.'],
      ['sandbox.deleted', removedSandbox, 'short-lived', 'Deleted.'],
      ['key.created', null, null, `Created ${key}`],
      ['key.revoked', null, null, `Revoked ${key}`],
    ])
    expect(has_more).toBe(false)
    expect(JSON.stringify(activities)).not.toContain(created.json.key)
    const sequences = activities.map(({ sequence }: Json) => sequence)
    expect(sequences).toEqual([1, 2, 3, 4, 5].map((count) => before + count))
    await eventually(() =>
      expect(events.filter(({ type }) => type === 'activity.noted').map(({ sequence }) => sequence)).toEqual(sequences),
    )
    const page = await get(`/v1/activity?after=${before + 1}&limit=2`)
    expect(page).toEqual({ account_id, activities: activities.slice(1, 3), has_more: true })
    await service.restart()
    expect(await get(`/v1/activity?after=${before}`)).toEqual({ account_id, activities, has_more })
  } finally {
    socket.terminate()
  }
})

test('attributes an entry to the owner, a named key or the service', async () => {
  const created = await service.send('/v1/auth/api-keys', { body: { name: 'research-agent' } })
  const { key } = created.json
  const before = (await get('/v1/activity?limit=500')).activities.at(-1)?.sequence ?? 0
  const mine = await create('of the owner')
  const path = `/v1/sandboxes/${mine}`
  await service.send(`${path}/exec`, { key, body: { command: 'echo word-of-a-command', env: { TOKEN: 'secret' } } })
  await service.send(`${path}/files`, { key, body: { path: '/root/note.txt', content: 'contents of a file' } })
  const terminal = (await service.send(`${path}/pty`, { key, body: { command: 'read; exit 4' } })).json
  await service.send(`${path}/pty/${terminal.session_id}/write`, { key, body: { input: '\n' } })
  await until('it to be closed', async () => (await listTypes(path)).includes('terminal.closed'))
  await service.send(path, { method: 'DELETE', key })
  const { activities } = await get(`/v1/activity?after=${before}`)
  const program = { kind: 'key', name: 'research-agent', id: created.json.id }
  const owner = { kind: 'owner', name: null }
  expect(activities.map(({ type, by, command }: Json) => [type, by, command])).toEqual([
    ['sandbox.created', owner, null],
    ['sandbox.started', owner, null],
    ['command.run', program, 'echo word-of-a-command'],
    ['file.written', program, null],
    ['terminal.opened', program, 'read; exit 4'],
    ['terminal.closed', { kind: 'service', name: null }, null],
    ['sandbox.deleted', program, null],
  ])
  expect(JSON.stringify(activities)).not.toMatch(/secret|contents of/)
})

test('limits the feed to its account and rejects an invalid cursor', async () => {
  const { accountId, key } = secondAccount(service.dataDir)
  const none = { account_id: accountId, activities: [], has_more: false }
  expect((await service.send('/v1/activity', { key })).json).toEqual(none)
  for (const after of ['-1', '1.5', 'x']) {
    const { status, json } = await service.send(`/v1/activity?after=${after}`)
    expect([status, json.error]).toEqual([400, '`after` must be a whole number from 0 on.'])
  }
})

test.each(['commands', 'activity'])('%s rejects an invalid limit and other accounts', async (list) => {
  for (const limit of ['0', '501', '-1', '1.5', 'many', '']) {
    const { status, json } = await service.send(`${sandbox}/${list}?limit=${limit}`)
    expect(status, limit).toBe(400)
    expect(json).toMatchObject({
      error: '`limit` must be a whole number from 1 to 500.',
      code: 'request/invalid',
    })
  }
  expect((await service.send(`${sandbox}/${list}?limit=500`)).status).toBe(200)
  const { key } = secondAccount(service.dataDir)
  for (const path of [`${sandbox}/${list}`, `${sandbox}/metrics`]) {
    expect(await service.send(path, { key })).toMatchObject({ status: 404, json: { code: 'sandbox/not-found' } })
  }
})

test('a rename follows the naming rules and notifies all listeners', async () => {
  const events: Json[] = []
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/events`, {
    headers: { authorization: `Bearer ${service.key}` },
  })
  try {
    socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString('utf8'))))
    await until('the first message', () => events.length > 0)
    const rename = (body: unknown, key = service.key) => service.send(sandbox, { method: 'PATCH', body, key })
    for (const name of ['', '   ', 'two\nlines', 'x'.repeat(65), 7, undefined]) {
      expect(await rename({ name })).toMatchObject({ status: 400, json: { code: 'request/invalid' } })
    }
    expect((await rename({ name: 'stolen' }, secondAccount(service.dataDir).key)).status).toBe(404)
    const renamed = await rename({ name: '  Renamed ✓ ' })
    expect(renamed).toMatchObject({ status: 200, json: { id, name: 'Renamed ✓', status: 'running' } })
    expect((await get(sandbox)).name).toBe('Renamed ✓')
    await eventually(() =>
      expect(events).toContainEqual({
        type: 'sandbox.changed',
        sandbox: expect.objectContaining({ id, name: 'Renamed ✓' }),
      }),
    )
    expect(events.filter(({ type }) => type === 'sandbox.changed')).toHaveLength(1)
    const { activities } = await get(`${sandbox}/activity?limit=1`)
    expect(activities[0]).toMatchObject({ type: 'sandbox.renamed', description: 'Renamed watched to Renamed ✓.' })
  } finally {
    socket.terminate()
  }
})

test('entries survive a service restart and an exit is recorded once', async () => {
  const opened = await service.send(`${sandbox}/pty`, {
    body: { command: 'until [ -e /tmp/go ]; do sleep 0.1; done; exit 5' },
  })
  const [commands, activities] = [await get(`${sandbox}/commands`), await get(`${sandbox}/activity`)]
  await service.restart()
  expect(await get(`${sandbox}/commands`)).toEqual(commands)
  expect(await get(`${sandbox}/activity`)).toEqual(activities)
  expect((await get(sandbox)).name).toBe('Renamed ✓')
  await exec('touch /tmp/go')
  const ended = `Terminal ${opened.json.session_id.slice(-6)} ended with exit code 5.`
  const endings = async () =>
    (await get(`${sandbox}/activity`)).activities.filter((it: { description: string }) => it.description === ended)
  await until('it to have ended', async () => (await endings()).length === 1)
  await service.restart()
  expect(await endings()).toHaveLength(1)
})
