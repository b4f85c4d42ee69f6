import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { createJsonLog } from '#platform/logging/log.ts'
import { processIdentity } from '#platform/processes/processIdentity.ts'
import { Scope } from '#platform/program/scope.ts'
import { createHostConnection } from '#service/host/hostConnection.ts'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const unresponsiveHost = fileURLToPath(new URL('../support/processes/unresponsiveHost.ts', import.meta.url))
let scope = new Scope()

afterEach(async () => {
  await scope.close()
  scope = new Scope()
})

/** Creates a service connection that starts `unresponsiveHost` if no host listens. */
function connect() {
  const path = join(temporaryFolder('heartbeat'), 'host.sock')
  const hosts: ChildProcess[] = []
  let looks = 0
  let log = ''
  const launch = async (): Promise<void> => {
    const child = spawn(process.execPath, [unresponsiveHost, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    hosts.push(child)
    scope.own(child, async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    await once(child.stdout as NodeJS.ReadableStream, 'data')
  }
  const options = {
    path,
    launch,
    onEvent: () => {},
    onConnected: async () => {},
    onNobody: async () => {},
    hasCrashed: () => true,
    waitMs: 30_000,
    async findHost() {
      looks += 1
      const pid = hosts.at(-1)?.pid ?? 0
      const identity = await processIdentity(pid)
      return identity === undefined ? undefined : { pid, identity }
    },
    heartbeat: { intervalMs: 20, maxSilentMs: 2_000 },
    log: createJsonLog({ write: (line) => (log += line), now: Date.now, level: 'info' }),
    now: Date.now,
  }
  const connection = scope.own(createHostConnection(options), (it) => it.close())
  connection.start()
  const describe = async () => (await connection.call('describe', {})).result
  return { describe, hosts, log: () => log, looks: () => looks }
}

test('kills and replaces a hung host', async () => {
  const { describe, hosts, log } = connect()
  const first = (await describe()).pid
  await until('the host to be known', async () => hosts[0]?.pid === first)
  hosts[0]?.kill('SIGUSR2')
  const second = await until('another host', async () => {
    const { pid } = await describe()
    return pid !== first && pid
  })
  expect(second).toBe(hosts[1]?.pid)
  expect(hosts[0]?.signalCode).toBe('SIGKILL')
  expect(log()).toContain('sandbox host hung')
})
