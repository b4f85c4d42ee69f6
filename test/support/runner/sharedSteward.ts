import type { TestProject } from 'vitest/node'
import { until } from '../assertions/eventually.ts'
import { namesTestFolder, watchLeaks } from '../assertions/leaks.ts'
import { removeTestFolders } from '../fixtures/temporaryFolder.ts'
import { startSteward } from '../processes/steward.ts'

/** Steward instance that the e2e files of one worker share, in a separate process. */
export type SharedSteward = { url: string; serviceUrl: string; dataFolder: string; ownerKey: string }

declare module 'vitest' {
  interface ProvidedContext {
    /** One instance per worker, indexed by `VITEST_POOL_ID` - 1. */
    stewards: SharedSteward[]
  }
}

const leakDeadlineMs = 30_000

/** Starts a Steward for each worker of an e2e run. On teardown, asserts that everything they opened is closed. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const leaks = watchLeaks((all) => all.filter((it) => namesTestFolder(it.command)))
  const workers = Array.from({ length: project.config.maxWorkers })
  const stewards = await Promise.all(workers.map(() => startSteward()))
  project.provide(
    'stewards',
    stewards.map(({ url, serviceUrl, dataFolder, ownerKey }) => ({ url, serviceUrl, dataFolder, ownerKey })),
  )

  return async () => {
    await Promise.all(stewards.map((steward) => steward.close()))
    try {
      await until('processes of the shared Stewards to exit', () => leaks.left().length === 0, leakDeadlineMs)
    } catch (cause) {
      throw new Error(`The shared Stewards left: ${leaks.left().join(', ')}`, { cause })
    } finally {
      await removeTestFolders()
    }
  }
}
