import type { FrameLocator, Page } from 'playwright-core'

/** The page of the wallet that the window shows in a frame. */
export type SheetPage = {
  frame: FrameLocator
  /** Waits for the step of this title. */
  step(title: string | RegExp): Promise<void>
  fill(label: string, text: string): Promise<void>
  press(button: string): Promise<void>
  /** Waits until the sheet is gone. */
  gone(): Promise<void>
  /** Gives the passphrase and presses the button of that name; waits until the sheet is gone. */
  give(passphrase: string, button: string): Promise<void>
}

export function sheetPage(page: Page): SheetPage {
  const selector = 'iframe[title$="a page of the wallet"]'
  const frame = page.frameLocator(selector)
  const fill = (label: string, text: string) => frame.getByRole('textbox', { name: label, exact: true }).fill(text)
  const press = (button: string) => frame.getByRole('button', { name: button, exact: true }).click()
  const gone = () => page.locator(selector).waitFor({ state: 'detached' })
  return {
    frame,
    step: (title) => frame.getByRole('heading', { name: title }).waitFor(),
    fill,
    press,
    gone,
    async give(passphrase, button) {
      await fill('Passphrase of the wallet', passphrase)
      await press(button)
      await gone()
    },
  }
}
