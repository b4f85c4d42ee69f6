import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getHostFolder } from '#platform/net/hostSocket.ts'
import { snapshotRepository } from '#service/snapshots/snapshotRepository.ts'
import { maxSnapshots } from '#shared/contract/snapshots.ts'
import { SandboxId, SnapshotId } from '#shared/ids.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { openSocket } from '../support/clients/socketClient.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Snapshots over REST, with the real service and host. */
let service: TestService
/** Sandboxes are created once this promise is resolved. */
let gate = Promise.resolve()

beforeAll(async () => {
  service = await runningService({
    maxActiveSandboxes: 3,
    runtimeOf(options) {
      const runtime = testRuntime(options)
      return { ...runtime, create: (...request) => gate.then(() => runtime.create(...request)) }
    },
  })
})
afterAll(() => service?.close())

async function runConcurrently(
  status: number,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Json> {
  const answer = await service.send(path, { method: 'POST', body: body ?? {}, headers })
  expect(answer.status, answer.text).toBe(status)
  return answer.json
}

const read = async (path: string): Promise<Json> => (await service.send(path)).json
const remove = (path: string) => service.send(path, { method: 'DELETE' })
const createSandbox = async (name: string): Promise<string> =>
  `/v1/sandboxes/${(await runConcurrently(201, '/v1/sandboxes', { name, disk_gb: 2, memory_mb: 1024, idle_minutes: 600 })).id}`
const exec = async (sandbox: string, command: string): Promise<string> =>
  (await runConcurrently(200, `${sandbox}/exec`, { command, timeout: 300 })).stdout
const getId = (sandbox: string) => SandboxId.parse(sandbox.split('/').at(-1))
const getFolder = (sandbox: string) => join(getHostFolder(service.dataDir), 'machines', getId(sandbox), 'snapshots')

test('creates, restores, forks and deletes snapshots', async () => {
  const sandbox = await createSandbox('kept')
  const events = await openSocket(`${service.url}/v1/events`, { headers: { authorization: service.key } })
  await exec(sandbox, 'echo before > /root/file')
  const once = { 'idempotency-key': 'one snapshot' }
  const snapshot = await runConcurrently(201, `${sandbox}/snapshots`, { name: 'first' }, once)
  expect(await runConcurrently(201, `${sandbox}/snapshots`, { name: 'first' }, once)).toEqual(snapshot)
  expect(snapshot).toMatchObject({ sandbox_id: getId(sandbox), name: 'first', size_bytes: expect.any(Number) })
  expect(snapshot.size_bytes).toBeGreaterThan(0)
  await until('the event', () =>
    events.messages.some(({ type, sandbox_id: id }) => type === 'snapshots.changed' && id === getId(sandbox)),
  )
  events.close()
  const unnamed = await runConcurrently(201, `${sandbox}/snapshots`)
  expect(unnamed.name).toMatch(/^snapshot-[0-9a-f]{8}$/)
  const listed = await read(`${sandbox}/snapshots`)
  expect(listed).toEqual({ snapshots: [unnamed, snapshot], data: [unnamed, snapshot], count: 2 })

  await exec(sandbox, 'echo after > /root/file')
  const { session_id: terminal } = await runConcurrently(201, `${sandbox}/pty`, { command: 'cat' })
  const restored = await runConcurrently(200, `${sandbox}/snapshots/${snapshot.id}/restore`)
  expect(restored).toMatchObject({ id: getId(sandbox), status: 'running', status_reason: null })
  expect(await exec(sandbox, 'cat /root/file')).toBe('before\n')
  const { sessions } = await read(`${sandbox}/pty?all=true`)
  expect(sessions).toMatchObject([{ session_id: terminal, state: 'exited' }])
  const { activities } = await read(`${sandbox}/activity`)
  // The entry for the closed terminal may come before or after.
  const ofSandbox = activities.filter(({ type }: Json) => /^(sandbox|snapshot)\./.test(type))
  expect(ofSandbox.slice(0, 3)).toMatchObject([
    { type: 'sandbox.started' },
    { type: 'snapshot.restored', description: 'Restored the snapshot “first”.' },
    { type: 'sandbox.stopped', description: 'Stopped to restore the snapshot “first”.' },
  ])

  await runConcurrently(200, `${sandbox}/stop`)
  expect((await runConcurrently(200, `${sandbox}/snapshots/${snapshot.id}/restore`)).status).toBe('stopped')
  const fork = await runConcurrently(201, `${sandbox}/snapshots/${snapshot.id}/fork`, { memory_mb: 512 })
  expect(fork).toMatchObject({ name: 'kept fork', disk_gb: 2, memory_mb: 512, idle_minutes: 600, status: 'running' })
  const forked = `/v1/sandboxes/${fork.id}`
  expect(await exec(forked, 'cat /root/file; hostname')).toBe('before\nkept-fork\n')
  expect((await read(`${forked}/snapshots`)).count).toBe(0)

  expect(await remove(`${sandbox}/snapshots/${snapshot.id}`)).toMatchObject({
    status: 200,
    json: { success: true, id: snapshot.id },
  })
  for (const action of ['/restore', '/fork']) {
    const { code } = await runConcurrently(404, `${sandbox}/snapshots/${snapshot.id}${action}`)
    expect(code).toBe('snapshot/not-found')
  }
  expect((await remove(`${sandbox}/snapshots/${snapshot.id}`)).status).toBe(404)
  expect((await read(`${sandbox}/snapshots`)).snapshots).toEqual([unnamed])
  expect(readdirSync(getFolder(sandbox)).length).toBe(1)

  await remove(sandbox)
  expect(existsSync(getFolder(sandbox))).toBe(false)
  expect((await service.send(`${sandbox}/snapshots`)).status).toBe(404)
  expect((await runConcurrently(404, `${sandbox}/snapshots`)).code).toBe('sandbox/not-found')
  expect((await runConcurrently(404, `${sandbox}/snapshots/${unnamed.id}/fork`)).code).toBe('sandbox/not-found')
  expect(await exec(forked, 'cat /root/file')).toBe('before\n')
  await remove(forked)
})

test('rejects invalid requests without changes', async () => {
  const sandbox = await createSandbox('refusing')
  const snapshot = await runConcurrently(201, `${sandbox}/snapshots`)
  expect((await runConcurrently(404, `${sandbox}/snapshots/snap_1/restore`)).code).toBe('snapshot/not-found')
  expect((await runConcurrently(404, `${sandbox}/snapshots/snap_${'0'.repeat(24)}/restore`)).code).toBe(
    'snapshot/not-found',
  )
  expect((await runConcurrently(400, `${sandbox}/snapshots`, { name: '' })).code).toBe('request/invalid')
  const others = [await createSandbox('second'), await createSandbox('third')]
  expect((await runConcurrently(503, `${sandbox}/snapshots/${snapshot.id}/fork`)).code).toBe('sandbox/capacity')
  expect((await read('/v1/sandboxes')).count).toBe(3)
  for (const otherPath of others)
    expect((await runConcurrently(404, `${otherPath}/snapshots/${snapshot.id}/fork`)).code).toBe('snapshot/not-found')
  await Promise.all(others.map(remove))

  await service.restart()
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  await createSqliteStore(database).write(async (tx) => {
    for (let number = 1; number < maxSnapshots; number++) {
      const id = SnapshotId.parse(`snap_${String(number).padStart(24, '0')}`)
      await snapshotRepository.begin(tx, { id, sandboxId: getId(sandbox), name: `no ${number}`, createdAtMs: number })
      await snapshotRepository.complete(tx, id, 1)
    }
  })
  database.close()
  expect((await runConcurrently(429, `${sandbox}/snapshots`)).code).toBe('snapshot/too-many')

  // A record with lost files is removed once the loss is detected. The sandbox continues to run with its current files.
  await exec(sandbox, 'echo own > /root/file')
  const unknownId = `snap_${'1'.padStart(24, '0')}`
  expect((await runConcurrently(404, `${sandbox}/snapshots/${unknownId}/restore`)).code).toBe('snapshot/not-found')
  expect((await read(`${sandbox}/snapshots`)).count).toBe(maxSnapshots - 1)
  expect(await read(sandbox)).toMatchObject({ status: 'running' })
  expect(await exec(sandbox, 'cat /root/file')).toBe('own\n')
  await remove(sandbox)
})

test('rejects a snapshot during sandbox creation and leaves none after deletion', async () => {
  const open = Promise.withResolvers<void>()
  gate = open.promise
  const making = service.send('/v1/sandboxes', { body: { name: 'slow' } })
  const early = await until('the record', async () => (await read('/v1/sandboxes')).sandboxes[0]?.id)
  const sandbox = `/v1/sandboxes/${early}`
  expect((await runConcurrently(409, `${sandbox}/snapshots`)).code).toBe('sandbox/busy')
  open.resolve()
  expect((await making).status).toBe(201)
  const [snapshot, removedSnapshot] = await Promise.all([
    service.send(`${sandbox}/snapshots`, { method: 'POST', body: {} }),
    remove(sandbox),
  ])
  expect(removedSnapshot.status).toBe(200)
  expect([201, 404]).toContain(snapshot.status)
  expect(existsSync(getFolder(sandbox))).toBe(false)
})

test('a fork during deletion of its source has all files or does not exist', async () => {
  const sandbox = await createSandbox('source')
  await exec(sandbox, 'echo forked > /root/file; dd if=/dev/urandom of=/root/large bs=1M count=40 status=none; sync')
  const { id } = await runConcurrently(201, `${sandbox}/snapshots`)
  const [fork, removal] = await Promise.all([
    service.send(`${sandbox}/snapshots/${id}/fork`, { method: 'POST', body: { name: 'forked' } }),
    remove(sandbox),
  ])
  expect(removal.status).toBe(200)
  expect([201, 404]).toContain(fork.status)
  const { sandboxes } = await read('/v1/sandboxes')
  expect(sandboxes.map(({ name }: Json) => name)).toEqual(fork.status === 201 ? ['forked'] : [])
  if (fork.status === 201) {
    const copy = `/v1/sandboxes/${fork.json.id}`
    expect(await exec(copy, 'cat /root/file; stat -c %s /root/large')).toBe('forked\n41943040\n')
    await remove(copy)
  }
})

test('a command in a stopping sandbox exits with code 137', async () => {
  const sandbox = await createSandbox('stopped')
  const running = service.send(`${sandbox}/exec`, {
    body: { command: 'touch /root/begun; sleep 3000', timeout: 3_000_000 },
  })
  await until('the command', async () => (await exec(sandbox, 'ls /root')).includes('begun'))
  await runConcurrently(200, `${sandbox}/stop`)
  const { status, json } = await running
  expect([status, json.exit_code, json.timed_out]).toEqual([200, 137, false])
  await runConcurrently(200, `${sandbox}/start`)
  expect(await exec(sandbox, 'pgrep -c sleep; true')).toBe('0\n')
  await remove(sandbox)
})

test('an incomplete snapshot is removed when the host is available after a service restart', async () => {
  const sandbox = await createSandbox('interrupted')
  const whole = await runConcurrently(201, `${sandbox}/snapshots`)
  const id = SnapshotId.parse(`snap_${'a'.repeat(24)}`)
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  const half = { id, sandboxId: getId(sandbox), name: 'half', createdAtMs: 1 }
  await createSqliteStore(database).write((tx) => snapshotRepository.begin(tx, half))
  database.close()
  expect((await read(`${sandbox}/snapshots`)).snapshots).toEqual([whole])
  await service.restart()
  await eventually(async () => expect(await listIncomplete()).toEqual([]))
  expect((await read(`${sandbox}/snapshots`)).snapshots).toEqual([whole])
  await remove(sandbox)
})

test('a snapshot completed by the host but missing in the database is restored', async () => {
  const sandbox = await createSandbox('followed')
  const { id, name, created_at: createdAt } = await runConcurrently(201, `${sandbox}/snapshots`)
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  database.prepare<[string]>('UPDATE snapshots SET size_bytes = 0 WHERE id = ?').run(id)
  database.close()
  expect((await read(`${sandbox}/snapshots`)).snapshots).toEqual([])
  await service.restart()
  await eventually(async () =>
    expect((await read(`${sandbox}/snapshots`)).snapshots).toMatchObject([{ id, name, created_at: createdAt }]),
  )
  const [newest] = (await read(`${sandbox}/activity`)).activities
  expect(newest).toMatchObject({ type: 'snapshot.created', description: `Saved the snapshot “${name}”.` })
  await remove(sandbox)
})

async function listIncomplete(): Promise<unknown[]> {
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    return await snapshotRepository.listIncomplete(createSqliteStore(database).read)
  } finally {
    database.close()
  }
}
