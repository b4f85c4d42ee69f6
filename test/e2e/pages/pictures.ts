import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually, until } from '../../support/assertions/eventually.ts'
import { projectFolder } from '../../support/fixtures/testProject.ts'

/**
 * Waits for two frames and for color transitions to end, so that axe and the screenshot see the final state. A page in
 * the background draws no frames.
 */
const isAtRest = `Promise.race([
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
    document.getAnimations().every((it) =>
      it.playState !== 'running' || it.effect.getComputedTiming().iterations === Infinity))))),
  new Promise((resolve) => setTimeout(() => resolve(false), 2_000)),
])`
type RunOptions = Parameters<AxeBuilder['options']>[0]

const schemes = ['dark', 'light'] as const
type Scheme = (typeof schemes)[number]
/** The other rules check elements and text, which are the same in every color scheme. */
const rulesOfColor = ['color-contrast', 'link-in-text-block']

/** A large screen, and the usual window at 200 % zoom, which axe examines in dark mode. */
const otherSizes = [
  { width: 1920, height: 1080, name: '1920', examined: false },
  { width: 640, height: 400, name: '640', examined: true },
] as const

const documentedScreensFolder = join(projectFolder, 'docs/screens')
const screensFolder = join(projectFolder, 'out/screens')

export type Pictures = {
  (page: Page, name: string, selected?: readonly Scheme[]): Promise<void>
  /** Takes additional screenshots on a large screen (`NAME-1920`) and at 200 % zoom (`NAME-640`). */
  inOtherSizes(page: Page, name: string): Promise<void>
}

/**
 * Checks the page in dark and light mode with axe, which must report no violations. With STEWARD_PICTURES=1, it takes
 * screenshots: those used in the documentation are replaced in docs/screens, and the others are written to out/screens,
 * which git ignores. A secure prompt stays in the color scheme in which it was opened.
 */
export function pictures(): Pictures {
  const isTaking = process.env.STEWARD_PICTURES === '1'
  if (isTaking) mkdirSync(screensFolder, { recursive: true })
  const show = async (page: Page, colorScheme: Scheme) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await until('nothing moves', async () => {
      await page.bringToFront() // axe analyzes frames in another page
      return page.evaluate<boolean>(isAtRest)
    })
  }
  const take = async (page: Page, name: string) => {
    if (!isTaking) return
    const documented = join(documentedScreensFolder, `${name}.png`)
    await page.screenshot({ path: existsSync(documented) ? documented : join(screensFolder, `${name}.png`) })
  }
  const look = async (page: Page, name: string, selected: readonly Scheme[] = schemes) => {
    for (const [index, colorScheme] of selected.entries()) {
      await show(page, colorScheme)
      await findsNothing(page, index === 0 ? 'everything' : 'color')
      await take(page, `${name}-${colorScheme}`)
    }
  }
  const inOtherSizes = async (page: Page, name: string) => {
    const before = page.viewportSize()
    for (const { width, height, name: size, examined } of otherSizes) {
      const captured = schemes.filter((scheme) => isTaking || (examined && scheme === 'dark'))
      if (captured.length > 0) await page.setViewportSize({ width, height })
      for (const colorScheme of captured) {
        await show(page, colorScheme)
        if (examined && colorScheme === 'dark') await findsNothing(page, 'everything')
        await take(page, `${name}-${size}-${colorScheme}`)
      }
    }
    if (before) await page.setViewportSize(before)
  }
  return Object.assign(look, { inOtherSizes })
}

async function findsNothing(page: Page, ruleSet: 'everything' | 'color'): Promise<void> {
  const only = ruleSet === 'everything' ? {} : { runOnly: { type: 'rule' as const, values: rulesOfColor } }
  // A terminal switches to another color scheme some frames after the page.
  await eventually(async () => {
    const look = await looker(page)
    const { violations } = await inTime(look.options({ ...options, ...only }).analyze())
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
  }, settlesWithinMs)
}

const settlesWithinMs = 30_000
const looksWithinMs = 30_000

/** Limits the duration, because evaluation in a page has no timeout. */
async function inTime<T>(look: Promise<T>): Promise<T> {
  const ending = new AbortController()
  const late = setTimeout(looksWithinMs, undefined, { signal: ending.signal }).then(() => {
    throw new Error(`axe did not answer within ${looksWithinMs} ms`)
  })
  try {
    return await Promise.race([look, late])
  } finally {
    ending.abort()
    await late.catch(() => {})
  }
}

/**
 * Preloading would fetch style sheets for a disabled rule, and audio, which the window does not use. Axe skips a frame
 * that does not respond within `pingWaitTime` (500 ms by default) and then misses its heading.
 */
const options: RunOptions = { resultTypes: ['violations'], preload: false, pingWaitTime: 10_000 }

/**
 * Creates the axe builder, which merges the results of frames in another page. Axe is loaded into frames and new pages
 * first, because the builder skips a frame that takes more than a second to load it.
 */
async function looker(page: Page): Promise<AxeBuilder> {
  const [top, ...frames] = page.frames()
  if (top) await loadAxe(top)
  // If a frame is replaced in between, the next check loads axe into it.
  for (const frame of frames) await loadAxe(frame).catch(() => {})
  const builder = new AxeBuilder({ page, axeSource: 'axe.version' })
  if (frames.length === 0) return builder.setLegacyMode()
  await loadAxeIntoNewPages(page.context())
  return builder
}

const axeSource = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)
const prepared = new WeakSet<BrowserContext>()

async function loadAxe(frame: Frame): Promise<void> {
  if (!(await frame.evaluate<boolean>("typeof axe === 'object'"))) await frame.evaluate(axeSource)
}

async function loadAxeIntoNewPages(context: BrowserContext): Promise<void> {
  if (prepared.has(context)) return
  prepared.add(context)
  await context.addInitScript(axeSource)
}
