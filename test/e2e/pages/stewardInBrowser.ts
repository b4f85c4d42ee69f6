import type { Browser } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { windowKeyHeader } from '../../../src/shared/contract/localApi.ts'
import { createSandbox, deleteSandbox, listSandboxes, type Sandbox } from '../../../src/shared/contract/sandboxes.ts'
import { openBrowser, openWindow, type StorageState, type WindowOptions } from '../../support/browser.ts'
import type { PersonSession } from '../../support/personSession.ts'
import { type Steward, startSteward } from '../../support/steward.ts'
import { type StewardClient, stewardClient } from '../../support/stewardClient.ts'
import { type PersonClient, personClient } from '../../support/walletForms.ts'
import { type AppWindow, appWindow } from './appWindow.ts'

/** One Steward and one browser for all tests of a file; each test opens a window of its own. */
export type StewardInBrowser = {
  steward: Steward
  browser: Browser
  client: StewardClient
  /** Calls as the person's session does, without a window. */
  person: PersonClient
  /** A window with the person's session; closed after the test, which fails when the page complained. */
  window(options?: Pick<WindowOptions, 'colorScheme'>): Promise<AppWindow>
  /** A running sandbox that is deleted after the test, unless the test did. */
  sandbox(name: string): Promise<Sandbox>
  close(): Promise<void>
}

export async function stewardInBrowser(options: { config?: object } = {}): Promise<StewardInBrowser> {
  const steward = await startSteward(options)
  const browser = await openBrowser().catch(async (failure: unknown) => {
    await steward.close()
    throw failure
  })
  const client = stewardClient(steward.serviceUrl, steward.ownerKey)
  const first = await openWindow(browser)
  await appWindow(first.page).open(steward.url)
  const state = await first.state()
  await first.close()
  const origin = new URL(steward.url).origin
  const person = personClient(origin, sessionIn(state, origin))
  return {
    steward,
    browser,
    client,
    person,
    async window(options) {
      const opened = await openWindow(browser, { ...options, state })
      onTestFinished(async () => {
        await opened.close()
        expect(opened.complaints).toEqual([])
      })
      const window = appWindow(opened.page)
      await window.open(origin)
      return window
    },
    async sandbox(name) {
      const made = await client.call(createSandbox, { name })
      onTestFinished(async () => {
        const { sandboxes } = await client.call(listSandboxes, {})
        if (sandboxes.some(({ id }) => id === made.id)) await client.call(deleteSandbox, { id: made.id })
      })
      return made
    },
    async close() {
      await browser.close()
      await steward.close()
    },
  }
}

/** What that browser's window sends along. */
function sessionIn({ cookies, origins }: StorageState, origin: string): PersonSession {
  const kept = origins.find((each) => each.origin === origin)?.localStorage ?? []
  return {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    [windowKeyHeader]: kept.find(({ name }) => name === 'steward.window-key')?.value ?? '',
  }
}
