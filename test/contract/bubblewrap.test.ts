import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { bubblewrapRuntime } from '../../src/main/host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '../../src/main/platform/log.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

sandboxRuntimeContract('bubblewrap', async () => {
  const data = await mkdtemp(join(tmpdir(), 'steward-runtime-'))
  const runtime = bubblewrapRuntime({ folder: join(data, 'machines'), log: silentLog, now: Date.now })
  return {
    runtime,
    async close() {
      expect(await runtime.stored()).toEqual([])
      await rm(data, { recursive: true })
    },
  }
})
