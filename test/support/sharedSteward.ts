import type { TestProject } from 'vitest/node'
import { joinBrowser, openSession, openSharedBrowser, type StorageState } from './browser.ts'
import { until } from './eventually.ts'
import { namesMadeFolder, watchLeaks } from './leaks.ts'
import { startSteward } from './steward.ts'
import { removeMadeFolders } from './temporaryFolder.ts'

/** The Steward that e2e files share, as they are told of it: it runs beside the process that they run in. */
export type SharedSteward = { url: string; serviceUrl: string; dataFolder: string; ownerKey: string }

declare module 'vitest' {
  interface ProvidedContext {
    steward: SharedSteward
    /** Of the person, as their browser holds it. */
    session: StorageState
    browserAddress: string
  }
}

const leakDeadlineMs = 30_000

/** One Steward and one Chromium for a run of e2e; at its end, what they opened must be closed. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const leaks = watchLeaks((all) => all.filter((it) => namesMadeFolder(it.command)))
  const browser = await openSharedBrowser()
  const steward = await startSteward().catch(async (failure: unknown) => {
    await browser.close()
    throw failure
  })
  const { url, serviceUrl, dataFolder, ownerKey } = steward
  project.provide('steward', { url, serviceUrl, dataFolder, ownerKey })
  project.provide('browserAddress', browser.wsEndpoint())
  project.provide('session', await sessionOf(browser.wsEndpoint(), url))

  return async () => {
    await browser.close()
    await steward.close()
    try {
      await until('what the shared Steward left to be gone', () => leaks.left().length === 0, leakDeadlineMs)
    } catch (cause) {
      throw new Error(`The shared Steward left: ${leaks.left().join(', ')}`, { cause })
    } finally {
      await removeMadeFolders()
    }
  }
}

async function sessionOf(browserAddress: string, url: string): Promise<StorageState> {
  const joined = await joinBrowser(browserAddress)
  try {
    return await openSession(joined, url)
  } finally {
    await joined.close()
  }
}
