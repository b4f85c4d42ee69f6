import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually, until } from '../../support/eventually.ts'
import { projectFolder } from '../../support/plantedTree.ts'

/**
 * Two frames drawn and no color on its way: what axe measures and the picture shows is what a person sees. A page that is
 * not in front draws none.
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
/** The others look at elements and words, which are the same in every scheme. */
const rulesOfColor = ['color-contrast', 'link-in-text-block']

/** A large screen; and the usual window at 200 % zoom, which axe looks at in dark. */
const otherSizes = [
  { width: 1920, height: 1080, name: '1920', examined: false },
  { width: 640, height: 400, name: '640', examined: true },
] as const

const documentedScreensFolder = join(projectFolder, 'docs/screens')
const screensFolder = join(projectFolder, 'out/screens')

export type Pictures = {
  (page: Page, name: string, selected?: readonly Scheme[]): Promise<void>
  /** Also takes screenshots on a large screen (`NAME-1920`) and at 200 % zoom (`NAME-640`). */
  inOtherSizes(page: Page, name: string): Promise<void>
}

/**
 * Checks the page in dark and light mode: axe must find nothing. With STEWARD_PICTURES=1, takes screenshots:
 * those that the documentation shows are replaced in docs/screens, the others go to out/screens, which git ignores. A prompt
 * keeps the color scheme that it was opened with.
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
  // A terminal takes the colors of another scheme some frames after the page.
  await eventually(async () => {
    const look = await looker(page)
    const { violations } = await inTime(look.options({ ...options, ...only }).analyze())
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
  }, settlesWithinMs)
}

const settlesWithinMs = 30_000
const looksWithinMs = 30_000

/** Limits the duration: evaluation in a page has no timeout. */
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
 * Preloading would fetch style sheets for a disabled rule, and audio, of which the window has none. Axe leaves out a frame
 * that does not respond within `pingWaitTime`, by default 500 ms, and then misses its heading.
 */
const options: RunOptions = { resultTypes: ['violations'], preload: false, pingWaitTime: 10_000 }

/**
 * Creates the axe builder. Results of frames are merged in another page. Axe is loaded into
 * frames and new pages beforehand, because the builder leaves out a frame that takes more than a second to load it.
 */
async function looker(page: Page): Promise<AxeBuilder> {
  const [top, ...frames] = page.frames()
  if (top) await loadAxe(top)
  // A frame that is replaced meanwhile is loaded by the next look.
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
