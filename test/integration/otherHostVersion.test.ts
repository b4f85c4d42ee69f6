import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostPidFile, hostSocketPath } from '#platform/hostSocket.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'
import { eventually, until } from '../support/eventually.ts'
import { connectHost } from '../support/hostClient.ts'
import { createMachineSpec } from '../support/machines.ts'
import { projectFolder } from '../support/plantedTree.ts'
import { runningService, type TestService } from '../support/runningService.ts'
import { secondAccount } from '../support/secondAccount.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

/** A service that meets a real host process of another protocol version, on which a sandbox runs. */
let service: TestService
let otherHost: ChildProcess
const dataDir = temporaryFolder('service')
const otherVersion = hostIpcVersion + 100

/** Copies the program with another version of the protocol. */
function copyProgram(): string {
  const folder = temporaryFolder('other-version')
  cpSync(join(projectFolder, 'src'), join(folder, 'src'), { recursive: true })
  cpSync(join(projectFolder, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'resources']) symlinkSync(join(projectFolder, name), join(folder, name))
  const file = join(folder, 'src/shared/contract/hostIpc.ts')
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(/(hostIpcVersion = )\d+/, `$1${otherVersion}`)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
  return folder
}

beforeAll(async () => {
  service = await runningService({ dataDir })
  const created = await service.send('/v1/sandboxes', { body: { name: 'survivor' } })
  expect(created.status).toBe(201)
  const wrote = await service.send(`/v1/sandboxes/${created.json.id}/exec`, {
    body: { command: 'echo kept > /root/kept' },
  })
  expect(wrote.json.exit_code).toBe(0)
  await service.close()
  const program = copyProgram()
  mkdirSync(join(dataDir, 'logs'), { recursive: true })
  otherHost = spawn(process.execPath, [join(program, 'src/main/entries/host.ts'), '--data', dataDir], {
    stdio: 'ignore',
  })
  await until('the other host to listen', () => existsSync(hostSocketPath(dataDir)) && existsSync(hostPidFile(dataDir)))
  const client = await connectHost(hostSocketPath(dataDir))
  await client.call('machine.start', createMachineSpec({ id: created.json.id }))
  expect((await client.call('describe', {})).ipcVersion).toBe(otherVersion)
  client.ipc.close()
  service = await runningService({ dataDir })
})
afterAll(async () => {
  await service?.close()
  otherHost?.kill('SIGKILL')
})

const read = async () => (await service.send('/v1/host')).json

test('says what runs there, and stops it only when the owner asks', async () => {
  await eventually(async () =>
    expect(await read()).toMatchObject({ state: 'other-version', running_sandboxes: 1, version: expect.any(String) }),
  )
  expect(otherHost.exitCode).toBeNull()
  const { key } = secondAccount(dataDir)
  expect((await service.send('/v1/host/replace', { body: {}, key })).status).toBe(403)
  expect((await service.send('/v1/host/replace', { body: {} })).json).toEqual({
    state: 'connected',
    version: null,
    running_sandboxes: 0,
  })
  await until('the other host to end', () => otherHost.exitCode !== null)
  const { sandboxes } = (await service.send('/v1/sandboxes')).json
  const [sandbox] = sandboxes.filter(({ name }: { name: string }) => name === 'survivor')
  expect(sandbox.status).toBe('stopped')
  expect((await service.send(`/v1/sandboxes/${sandbox.id}/start`, { body: {} })).status).toBe(200)
  const result = await service.send(`/v1/sandboxes/${sandbox.id}/exec`, { body: { command: 'cat /root/kept' } })
  expect(result.json.stdout).toBe('kept\n')
  expect((await service.send('/v1/host/replace', { body: {} })).json.state).toBe('connected')
  expect((await service.send(`/v1/sandboxes/${sandbox.id}`)).json.status).toBe('running')
})
