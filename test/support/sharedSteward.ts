import type { TestProject } from 'vitest/node'
import { until } from './eventually.ts'
import { namesTestFolder, watchLeaks } from './leaks.ts'
import { startSteward } from './steward.ts'
import { removeTestFolders } from './temporaryFolder.ts'

/** Steward instance that e2e files share, in a separate process. */
export type SharedSteward = { url: string; serviceUrl: string; dataFolder: string; ownerKey: string }

declare module 'vitest' {
  interface ProvidedContext {
    steward: SharedSteward
  }
}

const leakDeadlineMs = 30_000

/** Starts one Steward for an e2e run. On teardown, asserts that everything it opened is closed. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const leaks = watchLeaks((all) => all.filter((it) => namesTestFolder(it.command)))
  const { close, url, serviceUrl, dataFolder, ownerKey } = await startSteward()
  project.provide('steward', { url, serviceUrl, dataFolder, ownerKey })

  return async () => {
    await close()
    try {
      await until('what the shared Steward left to be gone', () => leaks.left().length === 0, leakDeadlineMs)
    } catch (cause) {
      throw new Error(`The shared Steward left: ${leaks.left().join(', ')}`, { cause })
    } finally {
      await removeTestFolders()
    }
  }
}
