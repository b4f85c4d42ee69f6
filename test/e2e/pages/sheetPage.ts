import type { Page } from 'playwright-core'

/** The page of the wallet that the window shows in a frame. */
export type SheetPage = {
  /** Gives the passphrase and presses the button of that name; waits until the sheet is gone. */
  give(passphrase: string, button: string): Promise<void>
}

export function sheetPage(page: Page): SheetPage {
  const selector = 'iframe[title$="a page of the wallet"]'
  const frame = page.frameLocator(selector)
  return {
    async give(passphrase, button) {
      await frame.getByRole('textbox', { name: 'Passphrase of the wallet' }).fill(passphrase)
      await frame.getByRole('button', { name: button, exact: true }).click()
      await page.locator(selector).waitFor({ state: 'detached' })
    },
  }
}
