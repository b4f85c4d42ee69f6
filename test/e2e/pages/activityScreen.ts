import type { Locator } from 'playwright-core'
import type { AppWindow } from './appWindow.ts'

/** Page object for the activity log. */
export type ActivityScreen = {
  root: Locator
  /** Visible entries whose line matches this text. */
  entry(text: string | RegExp): Locator
  /** Waits for an entry with this text. */
  sees(text: string | RegExp): Promise<void>
  search(text: string): Promise<void>
  /** Selects the chip of an area, such as `Sandboxes` or `All`. */
  area(name: string): Promise<void>
  by(name: string): Promise<void>
  when(name: string): Promise<void>
  /** Opens the entry and returns its details. */
  open(text: string | RegExp): Promise<Locator>
  /** Verifies the chain and returns the text of the result. */
  verify(): Promise<string>
  result: Locator
  exportMenu(): Promise<void>
}

export async function openActivity(window: AppWindow): Promise<ActivityScreen> {
  const { page } = window
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Activity' }).click()
  const root = page.getByRole('main')
  // The section opens at the last visited route.
  await root.getByRole('navigation', { name: 'Activity' }).getByRole('link', { name: 'Timeline' }).click()
  await root.getByRole('button', { name: 'Verify' }).waitFor()
  const entry = (text: string | RegExp) => root.getByRole('article').filter({ hasText: text })
  const choose = async (field: string, name: string): Promise<void> => {
    await root.getByRole('button', { name: new RegExp(`^${field} `) }).click()
    await page.getByRole('menuitemradio', { name, exact: true }).click()
  }
  const result = root.getByRole('region', { name: 'Verification result' })
  return {
    root,
    entry,
    sees: (text) => entry(text).first().waitFor(),
    search: (text) => root.getByRole('searchbox', { name: 'Search activity' }).fill(text),
    area: (name) => root.getByRole('button', { name, exact: true }).click(),
    by: (name) => choose('By', name),
    when: (name) => choose('When', name),
    async open(text) {
      const match = entry(text).first()
      const row = match.getByRole('button').first()
      if ((await row.getAttribute('aria-expanded')) === 'false') await row.click()
      return match
    },
    async verify() {
      const close = result.getByRole('button', { name: 'Close result' })
      if (await close.isVisible()) await close.click()
      await root.getByRole('button', { name: 'Verify' }).click()
      return (await result.getByRole('status').or(result.getByRole('alert')).textContent()) ?? ''
    },
    result,
    exportMenu: () => root.getByRole('button', { name: 'Export' }).click(),
  }
}
