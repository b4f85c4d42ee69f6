import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { startIncompatibleHost } from '../support/processes/incompatibleHost.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** A service connects to a real host process of another protocol version that runs a sandbox. */
let service: TestService
let incompatibleHost: ChildProcess
const dataDir = temporaryFolder('service')

beforeAll(async () => {
  service = await runningService({ dataDir })
  const created = await service.send('/v1/sandboxes', { body: { name: 'survivor' } })
  expect(created.status).toBe(201)
  const wrote = await service.send(`/v1/sandboxes/${created.json.id}/exec`, {
    body: { command: 'echo kept > /root/kept' },
  })
  expect(wrote.json.exit_code).toBe(0)
  await service.close()
  incompatibleHost = await startIncompatibleHost(dataDir, created.json.id)
  service = await runningService({ dataDir })
})
afterAll(async () => {
  await service?.close()
  incompatibleHost?.kill('SIGKILL')
})

const read = async () => (await service.send('/v1/host')).json

test('reports the other host version and stops it only for the owner', async () => {
  await eventually(async () =>
    expect(await read()).toMatchObject({ state: 'other-version', running_sandboxes: 1, version: expect.any(String) }),
  )
  expect(incompatibleHost.exitCode).toBeNull()
  const { key } = secondAccount(dataDir)
  expect((await service.send('/v1/host/replace', { body: {}, key })).status).toBe(403)
  expect((await service.send('/v1/host/replace', { body: {} })).json).toEqual({
    state: 'connected',
    version: null,
    running_sandboxes: 0,
  })
  await until('the other host to end', () => incompatibleHost.exitCode !== null)
  const { sandboxes } = (await service.send('/v1/sandboxes')).json
  const [sandbox] = sandboxes.filter(({ name }: { name: string }) => name === 'survivor')
  expect(sandbox.status).toBe('stopped')
  expect((await service.send(`/v1/sandboxes/${sandbox.id}/start`, { body: {} })).status).toBe(200)
  const result = await service.send(`/v1/sandboxes/${sandbox.id}/exec`, { body: { command: 'cat /root/kept' } })
  expect(result.json.stdout).toBe('kept\n')
  expect((await service.send('/v1/host/replace', { body: {} })).json.state).toBe('connected')
  expect((await service.send(`/v1/sandboxes/${sandbox.id}`)).json.status).toBe('running')
})
