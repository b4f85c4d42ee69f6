import { createTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { appWindow } from '../../e2e/pages/appWindow.ts'
import { until } from '../../support/assertions/eventually.ts'
import { openBrowser, openWindow, wholeChromium } from '../../support/clients/browser.ts'
import type { StewardClient } from '../../support/clients/stewardClient.ts'
import { startSteward } from '../../support/processes/steward.ts'
import { megabytesPerSecond, type Samples } from '../figures.ts'
import { waitUntilSettled } from './processFigures.ts'

export const drawnFlood = { line: '0123456789'.repeat(7), bytes: 50_000_000 } as const
const marker = 'all-was-drawn'

/** Runs in the page on every frame. A locator polls only every half second, which would distort the result. */
const offersSandbox = (): boolean | undefined =>
  document.querySelector('button[aria-label="New sandbox"]')?.checkVisibility()

/**
 * Measures from the command line to a window that offers to create a sandbox. The browser is already running and idle.
 */
export async function firstScreens(count: number): Promise<Samples> {
  const browser = await openBrowser(wholeChromium)
  const samples: number[] = []
  for (let index = 0; index < count; index++) {
    const { page, close } = await openWindow(browser)
    await page.goto('about:blank')
    await waitUntilSettled('the browser', () => [process.pid])
    const start = performance.now()
    const steward = await startSteward()
    await page.goto(steward.url, { waitUntil: 'commit' })
    await page.waitForFunction(offersSandbox)
    samples.push(performance.now() - start)
    await close()
    await steward.close()
  }
  await browser.close()
  return samples
}

/** Measures the output of one command until xterm.js in an application window has drawn its last line. */
export async function measureDrawing(options: {
  url: string
  client: StewardClient
  id: SandboxId
  name: string
}): Promise<number> {
  const { client, id } = options
  const command = `read -r; yes ${drawnFlood.line} | head -c ${drawnFlood.bytes}; echo ${marker}; exec cat`
  const { session_id: sessionId } = await client.call(createTerminal, { id, command })
  const browser = await openBrowser(wholeChromium)
  try {
    const { page } = await openWindow(browser)
    const window = appWindow(page)
    await window.open(options.url)
    await window.select(options.name)
    await window.tabs().last().click() // previous tabs have ended
    await window.terminal.isLive()
    const start = performance.now()
    await client.call(writeTerminal, { id, sessionId, input: '\n' })
    await until('all is drawn', async () => (await window.terminal.rows()).some((row) => row.endsWith(marker)), 60_000)
    return megabytesPerSecond(drawnFlood.bytes, performance.now() - start)
  } finally {
    await browser.close()
  }
}
