import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { isAlive } from '../support/assertions/processes.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { type Answer, exchange, type RequestFields } from '../support/processes/runningService.ts'
import { createServiceProcess } from '../support/processes/serviceProcess.ts'
import { startSteward } from '../support/processes/steward.ts'

/** Starts after all processes have exited, for each state that a sandbox can have. */
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Send = (path: string, options?: RequestFields) => Promise<Answer>
type SandboxIds = Record<'running' | 'stopped' | 'deleting', string>

const port = 3000

/** Leaves a sandbox in each state. Transitions are blocked by a stopped host. */
async function leaveEachState(send: Send, dataFolder: string, hostPid: () => number): Promise<SandboxIds> {
  const make = async (name: string): Promise<string> => {
    const { status, json, text } = await send('/v1/sandboxes', { body: { name } })
    expect(status, text).toBe(201)
    const path = `/v1/sandboxes/${json.id}`
    const exposed = await send(`${path}/ports/expose`, { body: { port } })
    expect(exposed.status, exposed.text).toBe(200)
    return path
  }
  const ids = { running: await make('running'), stopped: await make('stopped'), deleting: await make('deleting') }
  expect((await send(`${ids.stopped}/stop`, { method: 'POST' })).json.status).toBe('stopped')
  process.kill(hostPid(), 'SIGSTOP')
  send('/v1/sandboxes', { body: { name: 'making' } }).catch(() => {}) // its service is killed before it resolves
  send(ids.deleting, { method: 'DELETE' }).catch(() => {})
  await until('a sandbox is being made', async () =>
    (await listSandboxes(send)).some(({ name, status }) => name === 'making' && status === 'provisioning'),
  )
  const database = openDatabase(join(dataFolder, 'service.sqlite'))
  await until('a sandbox is marked as to be deleted', () => database.prepare('SELECT 1 FROM sandbox_removals').get())
  database.close()
  return ids
}

async function listSandboxes(send: Send): Promise<{ name: string; status: string; id: string }[]> {
  return (await send('/v1/sandboxes')).json.sandboxes
}

async function checkEachState(send: Send, ids: SandboxIds): Promise<void> {
  await eventually(async () => {
    const states = (await listSandboxes(send)).map(({ name, status }) => `${name} ${status}`)
    expect(states.toSorted()).toEqual(['making error', 'running stopped', 'stopped stopped'])
  })
  for (const path of [ids.running, ids.stopped]) {
    const { json, text } = await send(`${path}/start`, { method: 'POST' })
    expect(json.status, text).toBe('running')
    expect(json.forwarded_ports).toEqual([
      { port, url: expect.stringMatching(new RegExp(`^http://${port}-\\w+\\.localhost:\\d+$`)) },
    ])
  }
  expect((await send(ids.deleting)).status).toBe(404)
}

async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until('all processes ended', () => !pids.some(isAlive))
}

test('Steward starts on the first attempt after all processes were killed', async () => {
  const dataFolder = temporaryFolder('data')
  const before = await startSteward({ dataFolder })
  open.push(before.close)
  const sendBefore: Send = (path, options) => exchange(before.serviceUrl, path, { key: before.ownerKey, ...options })
  const ids = await leaveEachState(sendBefore, dataFolder, () => before.pids().host)
  await kill(Object.values(before.pids()))

  const after = await startSteward({ dataFolder })
  open.push(after.close)
  await checkEachState((path, options) => exchange(after.serviceUrl, path, { key: after.ownerKey, ...options }), ids)
  expect(readFileSync(join(dataFolder, 'logs', 'main.log'), 'utf8')).not.toContain('and is restarting')
})

test('Steward starts on the first attempt after `stop` with an exposed port', async () => {
  const dataFolder = temporaryFolder('data')
  const before = await startSteward({ dataFolder })
  open.push(before.close)
  const created = await exchange(before.serviceUrl, '/v1/sandboxes', {
    key: before.ownerKey,
    body: { name: 'exposed' },
  })
  const path = `/v1/sandboxes/${created.json.id}`
  await exchange(before.serviceUrl, `${path}/ports/expose`, { key: before.ownerKey, body: { port } })
  const stopping = spawn(process.execPath, ['scripts/start.js', 'stop', '--data', dataFolder], {
    cwd: projectFolder,
    stdio: 'ignore',
  })
  expect(await once(stopping, 'exit')).toEqual([0, null])

  const after = await startSteward({ dataFolder })
  open.push(after.close)
  const { json } = await exchange(after.serviceUrl, path, { key: after.ownerKey })
  expect(json).toMatchObject({ status: 'stopped', forwarded_ports: [{ port }] })
  expect(readFileSync(join(dataFolder, 'logs', 'main.log'), 'utf8')).not.toContain('and is restarting')
})

test('a standalone service with payments starts on the first attempt after everything was killed', async () => {
  const service = await createServiceProcess(undefined, { payments: { facilitator: 'test-ledger' } })
  open.push(service.close)
  const ids = await leaveEachState(service.send, service.dataDir, service.hostPid)
  await kill([service.hostPid()])
  await service.restart('SIGKILL')
  await checkEachState(service.send, ids)
  expect(existsSync(join(service.dataDir, 'host', 'host.pid'))).toBe(true)
})
