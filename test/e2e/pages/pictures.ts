import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { projectFolder } from '../../support/plantedTree.ts'

/** Two frames drawn and no colour on its way: what axe measures and the picture shows is what a person sees. */
const isAtRest = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
  document.getAnimations().every((it) =>
    it.playState !== 'running' || it.effect.getComputedTiming().iterations === Infinity)))))`
const schemes = ['dark', 'light'] as const
type Scheme = (typeof schemes)[number]
/** The others look at elements and words, which are the same in every scheme. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

/**
 * Looks at what the page shows, in dark and in light: axe must find nothing. With STEWARD_PICTURES=1 pictures of it are
 * taken into docs/screens, so that a usual run changes no file of the project. A sheet keeps the scheme that it was
 * opened with: of it there is one picture.
 */
export function pictures(): (page: Page, name: string, wanted?: readonly Scheme[]) => Promise<void> {
  const folder = process.env.STEWARD_PICTURES === '1' ? join(projectFolder, 'docs/screens') : undefined
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  return async (page, name, wanted = schemes) => {
    for (const [index, colorScheme] of wanted.entries()) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForFunction(isAtRest)
      const look = looker(page)
      const { violations } = await (index === 0 ? look : look.withRules(rulesOfColour)).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
    }
  }
}

/** What frames show is put together in a page of its own: without frames there is no need of one. */
function looker(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode(page.frames().length === 1)
}
