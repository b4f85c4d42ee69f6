import type { Locator } from 'playwright-core'
import type { AppWindow } from './appWindow.ts'

/** Page object for the panel beside the terminals, which describes the visible sandbox. */
export type DetailsPanel = {
  root: Locator
  /** Opens the section with this title if it is closed. */
  section(title: string): Promise<Locator>
  /** Selects an item of the menu that a button opens. */
  choose(button: string, item: string): Promise<void>
}

export async function openDetails(window: AppWindow): Promise<DetailsPanel> {
  const { page } = window
  const root = page.getByRole('region', { name: /^Details: / })
  await window.command('Show overview')
  await root.getByRole('button', { name: 'Usage' }).and(page.locator(':visible')).waitFor()
  const visible = page.locator(':visible')
  return {
    root,
    async section(title) {
      const fold = root.getByRole('button', { name: title }).and(visible)
      if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click()
      return root.getByRole('region', { name: title }).and(visible)
    },
    async choose(button, item) {
      await root.getByRole('button', { name: button, exact: true }).and(visible).click()
      await page.getByRole('menuitem', { name: item }).click()
    },
  }
}
