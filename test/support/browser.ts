import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { until } from './eventually.ts'

export type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** Chromium without the parts that only a person sees: the same pages for two thirds of the processor time. */
const withoutWindow = '/usr/bin/chromium-headless-shell'
/** Full Chromium, as users have it. */
export const wholeChromium = '/usr/bin/chromium'

/** Blocks all addresses except loopback. `*.steward.test` resolves to a service that is not local. */
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

/** The machine's own browser. */
export function openBrowser(executablePath = defaults): Promise<Browser> {
  return chromium.launch({ ...options, executablePath })
}

export type Window = {
  page: Page
  /** Cookies and storage: another window opened with them is of the same person. */
  state(): Promise<StorageState>
  /** Errors and CSP violations of the page. */
  complaints: readonly string[]
  /**
   * Clears everything done in it, so that the next test can use it: opening a new one loads and compiles everything
   * again, for twice the processor time.
   * @param origin whose storage is cleared
   */
  clear(origin: string): Promise<void>
  /** A cleared one as if it was just opened. */
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
/** Events whose listeners are removed after a test. */
const heard = ['console', 'pageerror', 'dialog', 'websocket', 'request', 'response', 'popup', 'download'] as const

function listen(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
  })
}

/** For a page of the same origin, and so of the same process, on which nothing runs. */
async function leaveApp(page: Page, origin: string): Promise<void> {
  for (const otherPage of page.context().pages()) if (otherPage !== page) await otherPage.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  page.on('dialog', (it) => void it.accept()) // whether to leave what is not saved
  await page.mouse.move(0, 0)
  await page.goto(`${origin}/nothing-runs-here`)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
}

/** Does what the option `storageState` does, without the page that Playwright opens for each origin. */
async function giveState(context: BrowserContext, { cookies, origins }: StorageState): Promise<void> {
  await context.addCookies(cookies)
  await context.addInitScript((state) => {
    const here = state.find(({ origin }) => origin === location.origin)
    if (self !== top || !here || sessionStorage.getItem('given')) return
    for (const { name, value } of here.localStorage) localStorage.setItem(name, value)
    sessionStorage.setItem('given', 'once, so that what the page removes stays away')
  }, origins)
}

/** Spends the token of a start address. @returns what a window of the person has from then on */
export async function openSession(browser: Browser, url: string): Promise<StorageState> {
  const { page, state, close } = await openWindow(browser)
  await page.goto(url)
  // Not `waitForFunction`: from its second look on the page's policy forbids what it evaluates.
  const hasKey = () => page.evaluate<boolean>("localStorage.getItem('steward.window-key') !== null")
  await until('the window to have its key', hasKey)
  const opened = await state()
  await close()
  return opened
}
