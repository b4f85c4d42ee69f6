import { join } from 'node:path'
import { expect } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

sandboxRuntimeContract('bubblewrap', async () => {
  const folder = join(temporaryFolder('runtime'), 'machines')
  const runtime = testRuntime({ folder, log: silentLog, now: Date.now })
  return {
    runtime,
    image: null,
    sharesPrograms: true,
    async close() {
      expect(await runtime.listStored()).toEqual([])
    },
  }
})
