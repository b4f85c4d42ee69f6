import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { projectFolder } from '../../support/plantedTree.ts'
import { temporaryFolder } from '../../support/temporaryFolder.ts'

/** Two frames drawn and no colour on its way: what axe measures and the picture shows is what a person sees. */
const isAtRest = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
  document.getAnimations().every((it) =>
    it.playState !== 'running' || it.effect.getComputedTiming().iterations === Infinity)))))`
const schemes = ['dark', 'light'] as const
type Scheme = (typeof schemes)[number]

/** A usual window; a large screen; and the usual window at 200 % zoom, of which axe looks in dark. */
const sizes = [
  { width: 1280, height: 800, name: '', examined: schemes },
  { width: 1920, height: 1080, name: '-1920', examined: [] },
  { width: 640, height: 400, name: '-640', examined: ['dark'] },
] as const

export type Pictures = {
  (page: Page, name: string, wanted?: readonly Scheme[]): Promise<void>
  /** Likewise in a usual window, on a large screen (`NAME-1920`) and at 200 % zoom (`NAME-640`). */
  inEverySize(page: Page, name: string): Promise<void>
}

/**
 * Looks at what the page shows, in dark and in light: axe must find nothing, and a picture is taken. Pictures go
 * into docs/screens when STEWARD_PICTURES=1, so that a usual run changes no file of the project. A sheet keeps the scheme
 * that it was opened with: of it there is one picture.
 */
export function pictures(): Pictures {
  const folder = process.env.STEWARD_PICTURES === '1' ? join(projectFolder, 'docs/screens') : temporaryFolder('screens')
  mkdirSync(folder, { recursive: true })
  const show = async (page: Page, colorScheme: Scheme) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.waitForFunction(isAtRest)
  }
  const look = async (page: Page, name: string, wanted: readonly Scheme[] = schemes) => {
    for (const colorScheme of wanted) {
      await show(page, colorScheme)
      await findsNothing(page)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
    }
  }
  const inEverySize = async (page: Page, name: string) => {
    const before = page.viewportSize()
    for (const { width, height, examined, ...size } of sizes) {
      await page.setViewportSize({ width, height })
      for (const colorScheme of schemes) {
        await show(page, colorScheme)
        if (examined.some((it) => it === colorScheme)) await findsNothing(page)
        await page.screenshot({ path: join(folder, `${name}${size.name}-${colorScheme}.png`) })
      }
    }
    if (before) await page.setViewportSize(before)
  }
  return Object.assign(look, { inEverySize })
}

async function findsNothing(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}
