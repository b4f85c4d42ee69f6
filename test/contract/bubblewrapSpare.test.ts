import { join } from 'node:path'
import { expect } from 'vitest'
import { testRuntime } from '../support/bubblewrapMachines.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

sandboxRuntimeContract('bubblewrap (from spares)', async () => {
  const runtime = testRuntime({ folder: join(temporaryFolder('runtime'), 'machines'), spares: 2 })
  return {
    runtime,
    image: null,
    sharesPrograms: true,
    async close() {
      expect(await runtime.stored()).toEqual([])
    },
  }
})
