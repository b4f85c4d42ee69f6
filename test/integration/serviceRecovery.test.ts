import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { getHostFolder } from '#platform/net/hostSocket.ts'
import { getProgramFile } from '#platform/program/programFile.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { until } from '../support/assertions/eventually.ts'
import { connectHost } from '../support/clients/hostClient.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'

/** Recovery with real processes after kills. */
let open: (TestService | ServiceProcess) | undefined

afterEach(async () => {
  await open?.close()
  open = undefined
})

async function createSandbox(service: { send: TestService['send'] }, name: string): Promise<string> {
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name } })
  expect(status, text).toBe(201)
  return `/v1/sandboxes/${json.id}`
}

test('kill -9 of the service preserves sandboxes, terminals, screens and scrollback', async () => {
  const service = await createServiceProcess()
  open = service
  const sandbox = await createSandbox(service, 'survivor')
  const before = (await service.send(sandbox)).json
  const created = await service.send(`${sandbox}/pty`, { body: { command: 'seq 1 500; exec cat' } })
  const terminal = `${sandbox}/pty/${created.json.session_id}`
  await until('the output', async () => (await service.send(`${terminal}/read`)).json.output.endsWith('500'))
  await service.send(`${terminal}/write`, { body: { input: 'typed before\n' } })
  const readEcho = async () => {
    const { json } = await service.send(`${terminal}/read`)
    return json.output.split('typed before').length === 3 && json
  }
  const screen = await until('the echo', readEcho)
  const link = await service.send(`${sandbox}/terminal-session`, { method: 'POST' })
  const host = service.hostPid()

  await service.restart('SIGKILL')

  expect(service.hostPid()).toBe(host)
  expect((await service.send(sandbox)).json).toEqual({
    ...before,
    terminal_url: `${service.url}${sandbox.replace('/v1/sandboxes', '/terminal')}`,
    cost: { ...before.cost, run_cents: expect.any(Number) },
  })
  const after = (await service.send(`${terminal}/read`)).json
  expect(after).toEqual(screen)
  const whole = (await service.send(`${terminal}/read?full=true`)).json.output.split('\n')
  expect(whole.slice(0, 500)).toEqual(Array.from({ length: 500 }, (_, index) => String(index + 1)))
  await service.send(`${terminal}/write`, { body: { input: 'typed after\n' } })
  await until('the new echo', async () =>
    (await service.send(`${terminal}/read`)).json.output.endsWith('typed after\ntyped after'),
  )
  expect((await service.send(sandbox, { key: link.json.token })).status).toBe(200)
})

test('kill -9 of the host marks sandboxes as stopped with files ready to restart', async () => {
  const service = await createServiceProcess()
  open = service
  const sandbox = await createSandbox(service, 'struck')
  await service.send(`${sandbox}/files`, { body: { path: '/root/kept.txt', content: 'kept' } })
  const created = await service.send(`${sandbox}/pty`, { body: { command: 'echo last words; exec cat' } })
  const terminal = `${sandbox}/pty/${created.json.session_id}`
  await until('the output', async () => (await service.send(`${terminal}/read`)).json.output.includes('last words'))
  const socket = await openSocket(`${service.url}${terminal}/stream`, { headers: { 'x-api-key': service.key } })
  await findMessage(socket, { type: 'attached' })

  await service.killHost()

  expect((await until('the stream to end', () => socket.closed)).code).toBe(4503)
  const stopped = await until('the record to say so', async () => {
    const { json } = await service.send(sandbox)
    return json.status === 'stopped' && json
  })
  expect(stopped).toMatchObject({ status_reason: 'Stopped: the sandbox host exited.', started_at: null })
  const read = await service.send(`${terminal}/read`)
  expect(read.json).toMatchObject({ state: 'exited', exit_code: null, output: expect.stringContaining('last words') })

  const started = await service.send(`${sandbox}/start`, { method: 'POST' })
  expect(started.json, started.text).toMatchObject({ status: 'running', status_reason: null })
  expect((await service.send(`${sandbox}/files/read?path=/root/kept.txt`)).json.content).toBe('kept')
  expect((await service.send(`${sandbox}/exec`, { body: { command: 'hostname' } })).json.stdout).toBe('struck\n')
})

test('SIGTERM shuts the service down cleanly and leaves the host running', async () => {
  const service = await createServiceProcess()
  open = service
  const sandbox = await createSandbox(service, 'resting')
  const host = service.hostPid()
  await service.restart('SIGTERM')
  expect(service.hostPid()).toBe(host)
  expect((await service.send(sandbox)).json.status).toBe('running')
})

test('a database older than a sandbox preserves its files for adoption or deletion', async () => {
  const service = await runningService()
  open = service
  const old = await createSandbox(service, 'old')
  const backup = temporaryFolder('backup')
  const getId = (path: string): string => path.slice('/v1/sandboxes/'.length)
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  await database.backup(join(backup, 'service.sqlite'))
  database.close()

  const fresh = await createSandbox(service, 'fresh')
  const otherPath = await createSandbox(service, 'other')
  await service.send(`${fresh}/files`, { body: { path: '/root/kept.txt', content: 'precious' } })
  const snapshot = await service.send(`${fresh}/snapshots`, { body: { name: 'before lunch' } })
  expect(snapshot.status, snapshot.text).toBe(201)
  const ofOld = await service.send(`${old}/snapshots`, { body: { name: 'of the old one' } })
  expect(ofOld.status, ofOld.text).toBe(201)
  await service.restart(() => {
    for (const end of ['', '-wal', '-shm']) rmSync(join(service.dataDir, `service.sqlite${end}`), { force: true })
    copyFileSync(join(backup, 'service.sqlite'), join(service.dataDir, 'service.sqlite'))
  })

  const list = await until('both are found', async () => {
    const { json } = await service.send('/v1/found-sandboxes')
    return json.count === 2 && json.sandboxes
  })
  expect(list).toEqual(
    expect.arrayContaining([
      {
        ...{ id: getId(fresh), short_id: getId(fresh).slice(0, 8), name: 'fresh', runtime: 'bubblewrap' },
        created_at: expect.any(String),
        account_id: expect.any(String),
        ...{ same_database: true, snapshot_count: 1 },
      },
      expect.objectContaining({ id: getId(otherPath), name: 'other', snapshot_count: 0 }),
    ]),
  )
  // Sandboxes that are missing in the database do not run.
  const host = await connectHost(join(getHostFolder(service.dataDir), 'host.sock'))
  const { machines: sandboxes } = await host.call('machine.list', {}).finally(() => host.ipc.close())
  expect(sandboxes.map(({ id }) => id)).toEqual([getId(old)])
  // Snapshots of sandboxes in the database are adopted with their names.
  const { json: snapshots } = await service.send(`${old}/snapshots`)
  expect(snapshots.data).toMatchObject([
    { id: ofOld.json.id, name: 'of the old one', size_bytes: ofOld.json.size_bytes },
  ])

  const adopted = await service.send(`/v1/found-sandboxes/${getId(fresh)}/adopt`, { method: 'POST' })
  expect(adopted.json, adopted.text).toMatchObject({ id: getId(fresh), name: 'fresh', status: 'stopped' })
  expect((await service.send(`${fresh}/start`, { method: 'POST' })).json.status).toBe('running')
  expect((await service.send(`${fresh}/files/read?path=/root/kept.txt`)).json.content).toBe('precious')
  expect((await service.send(`${fresh}/snapshots`)).json.data).toMatchObject([{ name: 'before lunch' }])

  expect((await service.send(`/v1/found-sandboxes/${getId(fresh)}`, { method: 'DELETE' })).status).toBe(404)
  expect((await service.send(`/v1/found-sandboxes/${getId(otherPath)}`, { method: 'DELETE' })).json.success).toBe(true)
  expect((await service.send('/v1/found-sandboxes')).json.count).toBe(0)
  expect(existsSync(join(getHostFolder(service.dataDir), 'machines', getId(otherPath)))).toBe(false)
  expect((await service.send(fresh)).json.status).toBe('running')
})

test('an empty database finds every sandbox without an account', async () => {
  const service = await runningService()
  open = service
  const sandbox = await createSandbox(service, 'lonely')
  const id = sandbox.slice('/v1/sandboxes/'.length)
  await service.restart(() => {
    for (const end of ['', '-wal', '-shm']) rmSync(join(service.dataDir, `service.sqlite${end}`), { force: true })
  })
  const key = readFileSync(join(service.dataDir, 'owner.key'), 'utf8').trim()
  const list = await until('it is found', async () => {
    const { json } = await service.send('/v1/found-sandboxes', { key })
    return json.count === 1 && json.sandboxes
  })
  expect(list).toMatchObject([{ id, name: 'lonely', account_id: null, same_database: false }])
  const adopted = await service.send(`/v1/found-sandboxes/${id}/adopt`, { method: 'POST', key })
  expect(adopted.json, adopted.text).toMatchObject({ id, name: 'lonely', status: 'stopped' })
  expect((await service.send(sandbox, { method: 'DELETE', key })).json.success).toBe(true)
  expect(existsSync(join(getHostFolder(service.dataDir), 'machines', id))).toBe(false)
})

test('an interrupted deletion is completed at the next start', async () => {
  const service = await runningService()
  open = service
  const sandbox = await createSandbox(service, 'doomed')
  const id = sandbox.slice('/v1/sandboxes/'.length)
  await service.restart(() => {
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.prepare('INSERT INTO sandbox_removals VALUES (?, 1)').run(id)
    database.close()
  })
  await until('it is gone', async () => (await service.send(sandbox)).status === 404)
  expect(existsSync(join(getHostFolder(service.dataDir), 'machines', id))).toBe(false)
  expect((await service.send('/v1/found-sandboxes')).json.count).toBe(0)
})

test('an interrupted sandbox creation is reported as an error and can be deleted', async () => {
  const service = await runningService()
  open = service
  const sandbox = await createSandbox(service, 'half')
  await service.send(`${sandbox}/stop`, { method: 'POST' })
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  database.exec(`UPDATE sandboxes SET status = 'provisioning', status_reason = NULL`)
  database.close()
  await service.restart()
  const message = await until('the error', async () => {
    const { json } = await service.send(sandbox)
    return json.status === 'error' && json
  })
  expect(message.status_reason).toBe('Creating it was interrupted.')
  expect((await service.send(sandbox, { method: 'DELETE' })).json.success).toBe(true)
  expect((await service.send(sandbox)).status).toBe(404)
})

test('a computer without bubblewrap reports what to install', async () => {
  const dataDir = temporaryFolder('bare')
  // Mount namespace in which the program exists but cannot be executed.
  const hide = 'for it in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e $it ] || mount --bind /dev/null $it; done'
  const mapped = process.getuid?.() === 0 ? [] : ['--map-root-user']
  let host: ChildProcess | undefined
  let hasEnded = false
  const service = await runningService({
    dataDir,
    async launchHost() {
      if (hasEnded) return // the service replaces a host that exits
      const command = `${hide}; exec "$0" "$1" --data "$2"`
      const parts = [
        ...mapped,
        '--mount',
        'sh',
        '-c',
        command,
        process.execPath,
        getProgramFile('entries/host'),
        dataDir,
      ]
      host = spawn('unshare', parts, { stdio: 'ignore' })
    },
  })
  open = service
  try {
    const listed = await service.send('/v1/runtimes')
    expect(listed.json.runtimes).toEqual([
      expect.objectContaining({
        name: 'bubblewrap',
        available: false,
        detail: expect.stringContaining('apt-get install'),
      }),
    ])
    for (const body of [{}, { runtime: 'bubblewrap' }]) {
      const answer = await service.send('/v1/sandboxes', { body })
      expect(answer.status).toBe(503)
      expect(answer.json).toMatchObject({
        code: 'runtime/unavailable',
        error: expect.stringMatching(/^The runtime bubblewrap cannot be used: .*apt-get install bubblewrap/),
      })
    }
    expect((await service.send('/v1/sandboxes')).json.count).toBe(0)
  } finally {
    hasEnded = true
    host?.kill('SIGTERM')
    await until('the host to end', () => host === undefined || host.exitCode !== null || host.signalCode !== null)
  }
})
