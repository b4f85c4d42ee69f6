import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startHost } from '#host/compose.ts'
import { createJsonLog } from '#platform/logging/log.ts'
import { createFakeRuntime } from '../fakes/fakeRuntime.ts'

/** Host process with the sandboxes of `fakeRuntime.ts`: `node fakeRuntimeHost.ts --data DIR`. */
const { values } = parseArgs({ options: { data: { type: 'string' }, 'idle-exit-ms': { type: 'string' } } })
const dataDir = values.data ?? ''
const log = createJsonLog({ write: (line) => process.stdout.write(line), now: Date.now, level: 'info' })
const host = await startHost({
  dataDir,
  runtimes: [createFakeRuntime({ folder: join(dataDir, 'machines') })],
  version: '0.0.0',
  pid: process.pid,
  now: Date.now,
  log,
  ...(values['idle-exit-ms'] !== undefined && { idleExitMs: Number(values['idle-exit-ms']) }),
})
await Promise.race([host.wantsToEnd, new Promise((resolve) => process.once('SIGTERM', resolve))])
await host.close()
process.exit(0)
