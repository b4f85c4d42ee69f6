import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/clients/browser.ts'
import { maxMsFor, type WorkClock, withinDeadline } from './deadline.ts'
import type { FuzzedTerminal } from './fuzzedTerminal.ts'
import type { FuzzOptions, FuzzResult } from './fuzzHost.ts'
import { createSeededRandom, randomOutput } from './randomOutput.ts'

/** Sizes up to those of large windows, because the cost of drawing depends on the size of the screen. */
const sizes = [
  { cols: 80, rows: 24 },
  { cols: 2, rows: 1 },
  { cols: 200, rows: 60 },
  { cols: 320, rows: 90 },
]
const maxMegabytes = 768
const html = '<div id="terminal" style="width: 1200px; height: 700px; font-family: monospace"></div>'
const bundler = fileURLToPath(new URL('./bundlePage.ts', import.meta.url))
const style = fileURLToPath(new URL('../../node_modules/@xterm/xterm/css/xterm.css', import.meta.url))

/** Sends hostile output to a terminal of the window in Chromium. The page must stay responsive and continue to draw. */
export async function fuzzWindow(options: FuzzOptions): Promise<FuzzResult> {
  const browser = await openBrowser()
  try {
    return await fuzz(await terminalPage(browser), await createWorkClock(browser), options)
  } finally {
    await browser.close()
  }
}

/** Opens a page that contains only one terminal of the window. */
export async function terminalPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto('http://terminal.localhost/')
  await page.addStyleTag({ path: style })
  await page.addScriptTag({ content: await bundleTerminal() })
  await page.evaluate(() => {
    const make = Reflect.get(globalThis, 'fuzzedTerminal') as (host: Element | null) => FuzzedTerminal
    Reflect.set(globalThis, 'terminal', make(document.querySelector('#terminal')))
  })
  return page
}

async function fuzz(page: Page, clock: WorkClock, { seed, ms, deadlineMs }: FuzzOptions): Promise<FuzzResult> {
  const random = createSeededRandom(seed)
  const output = randomOutput(random)
  const failures: Error[] = []
  page.on('pageerror', (error) => void failures.push(error))
  const result: FuzzResult = { bytes: 0, questions: 0, megabytes: 0 }
  let size = { cols: 80, rows: 24 }
  await attach(page, size)
  for (const endMs = Date.now() + ms; Date.now() < endMs; ) {
    const bytes = output.next().value
    result.bytes += bytes.length
    const drawn = give(page, bytes)
    drawn.catch(() => {}) // the first error is reported
    const asking = `an answer of the page (after ${result.bytes} bytes)`
    await withinDeadline(
      asking,
      { ms: deadlineMs, clock },
      page.evaluate(() => 1),
    )
    result.questions += 1
    const subject = `${bytes.length} bytes of output (after ${result.bytes})`
    await withinDeadline(subject, { ms: deadlineMs + maxMsFor(bytes.length, size), clock }, drawn)
    if (random() < 0.03) {
      size = sizes[Math.floor(random() * sizes.length)] ?? size
      await attach(page, size)
    }
    result.megabytes = Math.max(result.megabytes, await page.evaluate(heapMegabytes))
    if (result.megabytes > maxMegabytes) throw new Error(`It took ${result.megabytes} MB after ${result.bytes} bytes.`)
    if (failures[0]) throw new Error(`The page threw after ${result.bytes} bytes.`, { cause: failures[0] })
  }
  await attach(page, { cols: 80, rows: 24 })
  await give(page, new TextEncoder().encode('\x1b[2J\x1b[Hstill there'))
  const rows = await page.evaluate(() => (Reflect.get(globalThis, 'terminal') as FuzzedTerminal).rows())
  if (!rows.includes('still there')) throw new Error(`The terminal draws no more: ${JSON.stringify(rows)}`)
  return result
}

export function give(page: Page, bytes: Uint8Array): Promise<void> {
  const encoded = Buffer.from(bytes).toString('base64')
  return page.evaluate((input) => (Reflect.get(globalThis, 'terminal') as FuzzedTerminal).output(input), encoded)
}

export function attach(page: Page, size: { cols: number; rows: number }): Promise<void> {
  return page.evaluate((input) => (Reflect.get(globalThis, 'terminal') as FuzzedTerminal).attach(input), size)
}

/** Creates the clock of the renderer processes. */
async function createWorkClock(browser: Browser): Promise<WorkClock> {
  const session = await browser.newBrowserCDPSession()
  return async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    const seconds = processInfo.filter(({ type }) => type === 'renderer').map(({ cpuTime }) => cpuTime)
    return 1_000 * seconds.reduce((total, value) => total + value, 0)
  }
}

/** Runs in the page. */
function heapMegabytes(): number {
  const { memory } = performance as unknown as { memory: { usedJSHeapSize: number } } // specific to Chromium
  return Math.round(memory.usedJSHeapSize / 1024 / 1024)
}

async function bundleTerminal(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundler], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
