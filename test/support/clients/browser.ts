import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { until } from '../assertions/eventually.ts'

export type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** Headless Chromium without window rendering. Renders the same pages in two thirds of the CPU time. */
const withoutWindow = '/usr/bin/chromium-headless-shell'
/** Full Chromium, as installed by users. */
export const wholeChromium = '/usr/bin/chromium'

/** Blocks all addresses except loopback. `*.steward.test` simulates a service that is not local. */
const options = {
  timeout: 120_000,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--password-store=basic',
    '--no-proxy-server',
    '--disable-background-networking',
    '--disable-component-update',
    '--host-resolver-rules=MAP *.steward.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost',
  ],
}

const defaults =
  process.env.STEWARD_TEST_CHROMIUM ?? [withoutWindow, wholeChromium].find((file) => existsSync(file)) ?? withoutWindow

/** Opens the Chromium installed on this computer. */
export function openBrowser(executablePath = defaults): Promise<Browser> {
  return chromium.launch({ ...options, executablePath })
}

export type Window = {
  page: Page
  /** Cookies and storage. A window opened with them belongs to the same user. */
  state(): Promise<StorageState>
  complaints: readonly string[]
  /**
   * Clears all state, so that the next test can reuse the window. Opening a new one reloads and recompiles everything,
   * which takes twice the CPU time.
   * @param origin origin whose storage is cleared
   */
  clear(origin: string): Promise<void>
  /** Prepares a cleared window as if it had just been opened. */
  renew(options: WindowOptions): Promise<void>
  close(): Promise<void>
}

export type WindowOptions = { colorScheme?: 'dark' | 'light'; state?: StorageState }

/** Opens a window with a new profile. Terminals render into the DOM, so that tests can read their text. */
export async function openWindow(
  browser: Browser,
  { colorScheme = 'dark', state }: WindowOptions = {},
): Promise<Window> {
  const context = await browser.newContext({
    colorScheme,
    viewport,
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(120_000)
  await context.addInitScript("if (self === top) localStorage.setItem('steward.terminal.renderer', 'dom')")
  if (state) await giveState(context, state)
  const page = await context.newPage()
  const complaints: string[] = []
  listen(page, complaints)
  return {
    page,
    state: () => context.storageState(),
    complaints,
    async clear(origin) {
      await leaveApp(page, origin)
      await context.clearCookies()
      for (const event of heard) page.removeAllListeners(event)
      complaints.length = 0
      listen(page, complaints)
    },
    async renew({ colorScheme: scheme = 'dark', state: { cookies } = { cookies: [], origins: [] } }) {
      await context.addCookies(cookies)
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    },
    close: () => context.close(),
  }
}

const viewport = { width: 1280, height: 800 }
/** Events whose listeners are removed after each test. */
const heard = ['console', 'pageerror', 'dialog', 'websocket', 'request', 'response', 'popup', 'download'] as const

function listen(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
  })
}

/** Navigates to an empty page of the same origin, which stays in the same process. */
async function leaveApp(page: Page, origin: string): Promise<void> {
  for (const otherPage of page.context().pages()) if (otherPage !== page) await otherPage.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  page.on('dialog', (it) => void it.accept()) // the prompt about unsaved changes
  await page.mouse.move(0, 0)
  await page.goto(`${origin}/nothing-runs-here`)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
}

/** Applies `storageState` without the extra page that Playwright opens for each origin. */
async function giveState(context: BrowserContext, { cookies, origins }: StorageState): Promise<void> {
  await context.addCookies(cookies)
  await context.addInitScript((state) => {
    const here = state.find(({ origin }) => origin === location.origin)
    if (self !== top || !here || sessionStorage.getItem('given')) return
    for (const { name, value } of here.localStorage) localStorage.setItem(name, value)
    sessionStorage.setItem('given', 'once, so that what the page removes stays away')
  }, origins)
}

/** Consumes the token of a start URL. @returns the state of the user's window after that */
export async function openSession(browser: Browser, url: string): Promise<StorageState> {
  const { page, state, close } = await openWindow(browser)
  await page.goto(url)
  // Avoids `waitForFunction`, because the page's CSP blocks its evaluation from the second poll on.
  const hasKey = () => page.evaluate<boolean>("localStorage.getItem('steward.window-key') !== null")
  await until('the window to have its key', hasKey)
  const opened = await state()
  await close()
  return opened
}
