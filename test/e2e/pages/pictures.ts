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

/**
 * Looks at what the page shows, in dark and in light: axe must find nothing, and a picture is taken. Pictures go
 * into docs/screens when STEWARD_PICTURES=1, so that a usual run changes no file of the project. A sheet keeps the scheme
 * that it was opened with: of it there is one picture.
 */
export function pictures(): (page: Page, name: string, wanted?: readonly Scheme[]) => Promise<void> {
  const folder = process.env.STEWARD_PICTURES === '1' ? join(projectFolder, 'docs/screens') : temporaryFolder('screens')
  mkdirSync(folder, { recursive: true })
  return async (page, name, wanted = schemes) => {
    for (const colorScheme of wanted) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForFunction(isAtRest)
      const { violations } = await new AxeBuilder({ page }).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
    }
  }
}
