import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type RunningHost, startHost } from '../../src/main/host/compose.ts'
import { silentLog } from '../../src/main/platform/log.ts'
import { until } from '../support/eventually.ts'
import { connectHost, type HostClient } from '../support/hostClient.ts'
import { localRuntime } from '../support/localMachine.ts'

let folder: string
let host: RunningHost
let client: HostClient

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-host-'))
  host = await startHost({
    dataDir: folder,
    runtimes: [localRuntime()],
    version: '0.0.0',
    pid: process.pid,
    now: Date.now,
    log: silentLog,
  })
  client = await connectHost(host.socketPath)
})

afterEach(async () => {
  client.ipc.close()
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

test('what is typed and what the program prints stands on the screen', async () => {
  const sandbox = await client.createMachine()
  const terminal = await client.createTerminal(sandbox, 'read name; echo "hello $name"')
  await terminal.type('world\n')
  const read = await until('the exit', async () => {
    const seen = await terminal.read()
    return seen.terminal.state === 'exited' && seen
  })
  expect(read.text).toBe('world\nhello world')
  expect(read.terminal.exitCode).toBe(0)
})
