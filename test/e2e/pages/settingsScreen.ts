import type { Locator, Page } from 'playwright-core'

/** Page object for the Settings section. */
export type SettingsScreen = {
  /** Opens a section by its name in the index. */
  open(title: string): Promise<Locator>
  /** Returns a new API key from its dialog and closes the dialog. */
  newKey(name: string): Promise<string>
}

export function settingsScreen(page: Page): SettingsScreen {
  const index = page.getByRole('navigation', { name: 'Settings', exact: true })
  const open = async (title: string) => {
    if (!(await index.isVisible())) await page.getByRole('button', { name: 'Settings', exact: true }).click()
    await index.getByRole('link', { name: title }).click()
    const section = page.getByRole('article', { name: title })
    await section.waitFor()
    return section
  }
  return {
    open,
    async newKey(name) {
      const section = await open('API keys')
      await section.getByRole('button', { name: 'New key' }).click()
      const form = page.getByRole('dialog', { name: 'New API key' })
      await form.getByLabel('Name').fill(name)
      await form.getByRole('button', { name: 'Create key' }).click()
      const dialog = page.getByRole('dialog', { name: `Key created: ${name}` })
      const key = await dialog.getByRole('region', { name: 'Key', exact: true }).locator('code').textContent()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await dialog.waitFor({ state: 'detached' })
      return key ?? ''
    },
  }
}
