import { join } from 'node:path'
import { expect } from 'vitest'
import { suiteForm } from '#scripts/suiteForms.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

const makeRuntime = async () => {
  const runtime = testRuntime({ folder: join(temporaryFolder('runtime'), 'machines'), warmPoolSize: 2 })
  return {
    runtime,
    image: null,
    sharesPrograms: true,
    async close() {
      expect(await runtime.listStored()).toEqual([])
    },
  }
}

sandboxRuntimeContract('bubblewrap (from the warm pool)', makeRuntime, suiteForm.warmSandboxParts)
