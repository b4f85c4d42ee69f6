import { join } from 'node:path'
import { expect } from 'vitest'
import { bubblewrapRuntime } from '../../src/main/host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '../../src/main/platform/log.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

sandboxRuntimeContract('bubblewrap', async () => {
  const folder = join(temporaryFolder('runtime'), 'machines')
  const runtime = bubblewrapRuntime({ folder, log: silentLog, now: Date.now })
  return {
    runtime,
    image: null,
    sharesPrograms: true,
    async close() {
      expect(await runtime.stored()).toEqual([])
    },
  }
})
