import { join } from 'node:path'
import { expect } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { ImageName } from '#shared/contract/images.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { hostRootTar } from '../support/fixtures/hostRootTar.ts'
import { never } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { sandboxRuntimeContract } from './sandboxRuntime.ts'

sandboxRuntimeContract('bubblewrap (with an image)', async () => {
  const data = temporaryFolder('image')
  const runtime = testRuntime({ folder: join(data, 'machines'), log: silentLog, now: Date.now })
  const name = ImageName.parse('small')
  const source = { kind: 'archive', path: await hostRootTar(data) } as const
  await runtime.images.add({ name, source, onProgress: () => {} }, never)
  return {
    runtime,
    image: name,
    sharesPrograms: false,
    async close() {
      expect(await runtime.listStored()).toEqual([])
      await runtime.images.remove(name)
      expect(await runtime.images.list()).toEqual([])
    },
  }
})
