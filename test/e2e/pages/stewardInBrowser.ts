import type { Browser } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { listAccountRequests } from '#shared/contract/accountRequests.ts'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { listImages } from '#shared/contract/images.ts'
import { listIntents } from '#shared/contract/intents.ts'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { createSandbox, deleteSandbox, listSandboxes, type Sandbox } from '#shared/contract/sandboxes.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import {
  openBrowser,
  openSession,
  openWindow,
  type StorageState,
  type Window,
  type WindowOptions,
  wholeChromium,
} from '../../support/clients/browser.ts'
import { getSharedBrowser } from '../../support/clients/getSharedBrowser.ts'
import type { PersonSession } from '../../support/clients/personSession.ts'
import { createStewardClient, type StewardClient } from '../../support/clients/stewardClient.ts'
import { createPersonClient, type PersonClient } from '../../support/clients/walletForms.ts'
import { type Steward, startSteward } from '../../support/processes/steward.ts'
import type { SharedSteward } from '../../support/runner/sharedSteward.ts'
import { type AppWindow, appWindow } from './appWindow.ts'

/** Steward and browser shared by all tests of a file. Each test opens a new window. */
export type StewardInBrowser<Kind extends SharedSteward = SharedSteward> = {
  steward: Kind
  browser: Browser
  client: StewardClient
  /** Sends calls with the user's session, without a window. */
  person: PersonClient
  /** Opens a window with the user's session. It is closed after the test, which fails if the page reported errors. */
  window(options?: Pick<WindowOptions, 'colorScheme'>): Promise<AppWindow>
  /** Creates a running sandbox that is deleted after the test, unless the test deletes it. */
  sandbox(name: string): Promise<Sandbox>
  close(): Promise<void>
}

let sharedSession: Promise<StorageState> | undefined

/**
 * Returns the Steward shared by the files of this worker. Each file must restore its state, and must not stop it or create a wallet in
 * it.
 */
export async function stewardInBrowser(): Promise<StewardInBrowser> {
  const steward = getSharedSteward()
  const browser = await getSharedBrowser()
  sharedSession ??= openSession(browser, steward.url)
  const app = onSteward(steward, browser, await sharedSession)
  const before = await listRemaining(app)
  return {
    ...app,
    async close() {
      await closeWindows(browser)
      const { sandboxes } = await app.client.call(listSandboxes, {})
      for (const { id } of sandboxes) await app.client.call(deleteSandbox, { id })
      expect(await listRemaining(app), 'this file leaves something in the shared Steward').toEqual(before)
    },
  }
}

function getSharedSteward(): SharedSteward {
  const workerId = Number(process.env.VITEST_POOL_ID)
  const steward = inject('stewards')[workerId - 1]
  if (!steward) throw new Error(`No Steward was started for worker ${workerId}`)
  return steward
}

/**
 * Creates a Steward for this file only, with the shared browser. Use it for tests that stop or configure Steward, or
 * that need a wallet or its absence.
 */
export async function ownStewardInBrowser(options: OwnOptions = {}): Promise<StewardInBrowser<Steward>> {
  return ownSteward(options, { open: getSharedBrowser, close: closeWindows })
}

/** Creates a Steward and a full browser that are not shared, for tests that inspect the browser. */
export async function stewardInOwnBrowser(options: OwnOptions = {}): Promise<StewardInBrowser<Steward>> {
  return ownSteward(options, { open: () => openBrowser(wholeChromium), close: (browser) => browser.close() })
}

/** `ownerKey` belongs to the service named in the configuration. `client` calls use it. */
type OwnOptions = { config?: object; dataFolder?: string; ownerKey?: string }

async function ownSteward(
  options: OwnOptions,
  browsing: { open(): Promise<Browser>; close(browser: Browser): Promise<void> },
): Promise<StewardInBrowser<Steward>> {
  const steward = await startSteward(options)
  try {
    const browser = await browsing.open()
    return {
      ...onSteward(steward, browser, await openSession(browser, steward.url)),
      async close() {
        await browsing.close(browser)
        await steward.close()
      },
    }
  } catch (error) {
    await steward.close()
    throw error
  }
}

async function closeWindows(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) await context.close()
}

/** Lists resources that later test files would find. */
async function listRemaining({ client, person }: Pick<StewardInBrowser, 'client' | 'person'>) {
  const { sandboxes } = await client.call(listSandboxes, {})
  const { images } = await client.call(listImages, {})
  const { api_keys: keys } = await client.call(listApiKeys, {})
  const { requests } = await client.call(listAccountRequests, {})
  const { state: wallet } = await person.call(getWallet, {})
  const { intents } = await person.call(listIntents, { state: 'waiting' })
  return {
    sandboxes: sandboxes.length,
    images: images.length,
    keys: keys.length,
    accounts: requests.length,
    wallet,
    waiting: intents.length,
  }
}

function onSteward<Kind extends SharedSteward>(
  steward: Kind,
  browser: Browser,
  state: StorageState,
): Omit<StewardInBrowser<Kind>, 'close'> {
  const client = createStewardClient(steward.serviceUrl, steward.ownerKey)
  const origin = new URL(steward.url).origin
  const windows = createWindowPool(browser, origin)
  return {
    steward,
    browser,
    client,
    person: createPersonClient(origin, sessionIn(state, origin)),
    async window(options) {
      const opened = await windows.take({ ...options, state })
      onTestFinished(async ({ task }) => {
        const complaints = [...opened.complaints]
        await windows.give(opened, task.result?.state !== 'fail' && complaints.length === 0)
        expect(complaints).toEqual([])
      })
      const window = appWindow(opened.page)
      await window.open(origin)
      return window
    },
    async sandbox(name) {
      const created = await client.call(createSandbox, { name })
      onTestFinished(async () => {
        const { sandboxes } = await client.call(listSandboxes, {})
        if (sandboxes.some(({ id }) => id === created.id)) await client.call(deleteSandbox, { id: created.id })
      })
      return created
    },
  }
}

/** Reuses windows between tests. */
function createWindowPool(browser: Browser, origin: string) {
  let idle: Window | undefined
  return {
    async take(options: WindowOptions): Promise<Window> {
      const idleContext = idle
      idle = undefined
      if (!idleContext) return openWindow(browser, options)
      await idleContext.renew(options)
      return idleContext
    },
    async give(window: Window, isGood: boolean): Promise<void> {
      if (!isGood || idle !== undefined || window.page.isClosed()) return window.close()
      const isCleared = await window.clear(origin).then(
        () => true,
        () => false, // its Steward stopped with the test
      )
      if (isCleared) idle = window
      else await window.close()
    },
  }
}

/** Reads the session that the browser window sends. */
function sessionIn({ cookies, origins }: StorageState, origin: string): PersonSession {
  const storage = origins.find((each) => each.origin === origin)?.localStorage ?? []
  return {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    [windowKeyHeader]: storage.find(({ name }) => name === 'steward.window-key')?.value ?? '',
  }
}
