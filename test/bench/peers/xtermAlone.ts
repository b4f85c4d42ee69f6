import { createRequire } from 'node:module'
import type { Terminal } from '@xterm/xterm'
import { openBrowser, openWindow, wholeChromium } from '../../support/clients/browser.ts'
import { megabytesPerSecond } from '../figures.ts'

const require = createRequire(import.meta.url)

type Flood = { line: string; bytes: number }

const size = { cols: 120, rows: 40, scrollback: 10_000 }

/** Measures xterm.js on an otherwise empty page. Writes the same lines from memory until the last one is drawn. */
export async function xtermAlone(flood: Flood): Promise<number> {
  const browser = await openBrowser(wholeChromium)
  try {
    const { page } = await openWindow(browser)
    await page.setContent('<div id="terminal"></div>')
    await page.addStyleTag({ path: require.resolve('@xterm/xterm/css/xterm.css') })
    await page.addScriptTag({ path: require.resolve('@xterm/xterm') })
    return megabytesPerSecond(flood.bytes, await page.evaluate(drawAll, { ...flood, ...size }))
  } finally {
    await browser.close()
  }
}

/** Runs in the page. @returns the duration in milliseconds */
async function drawAll({ line, bytes, ...options }: Flood & typeof size): Promise<number> {
  const created = Reflect.get(globalThis, 'Terminal') as new (input: typeof options) => Terminal
  const terminal = new created(options)
  terminal.open(document.getElementById('terminal') ?? document.body)
  const piece = new TextEncoder().encode(`${line}\r\n`.repeat(900))
  const start = performance.now()
  const written: Promise<void>[] = []
  for (let sent = 0; sent < bytes; sent += piece.length) {
    written.push(new Promise<void>((resolve) => terminal.write(piece, resolve)))
    if (written.length > 16) await written.shift() // keeps 1 MB queued, so that the terminal is never idle
  }
  await Promise.all(written)
  await new Promise((resolve) => requestAnimationFrame(resolve))
  return performance.now() - start
}
