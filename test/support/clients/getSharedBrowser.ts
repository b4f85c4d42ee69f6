import type { Browser } from 'playwright-core'
import { listDescendants } from '../assertions/processes.ts'
import { sharedPids } from '../runner/sharedPids.ts'
import { openBrowser } from './browser.ts'

let opened: Promise<Browser> | undefined

/**
 * Returns one Chromium for all test files of this worker, which closes it on exit. Each file closes the windows that it
 * opened.
 */
export function getSharedBrowser(): Promise<Browser> {
  opened ??= open()
  return opened
}

async function open(): Promise<Browser> {
  const before = new Set(listDescendants(process.pid).map((it) => it.pid))
  const browser = await openBrowser()
  for (const { pid } of listDescendants(process.pid)) if (!before.has(pid)) sharedPids.add(pid)
  return browser
}
