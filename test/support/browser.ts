import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** The machine's own Chromium, kept from every address but loopback. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.STEWARD_TEST_CHROMIUM ?? '/usr/bin/chromium',
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--password-store=basic',
      '--no-proxy-server',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost',
    ],
  })
}

export type Window = {
  context: BrowserContext
  page: Page
  /** What the page threw or the browser refused: must stay empty. */
  complaints: string[]
}

export type WindowOptions = { colorScheme?: 'dark' | 'light'; width?: number; height?: number }

/** A window with a profile of its own. Terminals draw into the DOM there, so that their text can be read. */
export async function openWindow(browser: Browser, options: WindowOptions = {}): Promise<Window> {
  const context = await browser.newContext({
    colorScheme: options.colorScheme ?? 'dark',
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(60_000)
  await context.addInitScript(() => localStorage.setItem('steward.terminal.renderer', 'dom'))
  const page = await context.newPage()
  return { context, page, complaints: complaintsOf(page) }
}

export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (failure) => complaints.push(`page error: ${failure.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (/Content Security Policy|Refused to/.test(text)) complaints.push(text)
  })
  return complaints
}
