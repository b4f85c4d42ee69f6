import type { FrameLocator, Page } from 'playwright-core'
import { until } from '../../support/assertions/eventually.ts'

/** Page object for the wallet page that the window shows in a frame. */
export type SecurePromptPage = {
  frame: FrameLocator
  /** Waits until the step with this title handles keyboard input. */
  step(title: string | RegExp): Promise<void>
  fill(label: string, text: string): Promise<void>
  press(button: string): Promise<void>
  /** Waits until the secure prompt is closed. */
  waitUntilClosed(): Promise<void>
  /** Enters the passphrase, presses the button with this name, and waits until the secure prompt is closed. */
  give(passphrase: string, button: string): Promise<void>
}

const selector = 'iframe[title$="protected form"]'

export function securePromptPage(page: Page): SecurePromptPage {
  const frame = page.frameLocator(selector)
  const fill = async (label: string, text: string) => {
    await whole(frame)
    await frame.getByRole('textbox', { name: label, exact: true }).fill(text)
  }
  const press = async (button: string) => {
    await whole(frame)
    await frame.getByRole('button', { name: button, exact: true }).click()
  }
  const waitUntilDetached = () => page.locator(selector).waitFor({ state: 'detached' })
  return {
    frame,
    step: (title) => waitForStep(page, title),
    fill,
    press,
    waitUntilClosed: waitUntilDetached,
    async give(passphrase, button) {
      await fill('Wallet passphrase', passphrase)
      await press(button)
      await waitUntilDetached()
    },
  }
}

/** Waits until the step is loaded, its script has run, and the window has focused it. Keys do not reach it earlier. */
export async function waitForStep(page: Page, title: string | RegExp): Promise<void> {
  const frame = page.frameLocator(selector)
  await frame.getByRole('heading', { name: title }).waitFor()
  await whole(frame)
  await until('the secure prompt has the focus', () =>
    page.evaluate(() => document.activeElement instanceof HTMLIFrameElement),
  )
}

/** Waits for the script of the page. Until it has run, the window hides the page and its layout may change. */
async function whole(frame: FrameLocator): Promise<void> {
  await until(
    'the page of the wallet is whole',
    () =>
      frame
        .locator(':root')
        .evaluate((root) => root.ownerDocument.readyState === 'complete')
        .catch(() => false), // the frame navigated in between
  )
}
