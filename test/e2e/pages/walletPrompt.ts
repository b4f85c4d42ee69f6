import type { FrameLocator, Locator, Page } from 'playwright-core'
import { waitForStep } from './securePromptPage.ts'

/** Page object for the visible secure prompt. The window cannot access this frame, but the test can. */
export type WalletPrompt = {
  frame: FrameLocator
  dialog: Locator
  /** Resolves when this step is visible and handles keyboard input. */
  step(title: string | RegExp): Promise<void>
  fill(label: string, text: string): Promise<void>
  press(button: string): Promise<void>
  problem(): Promise<string>
  /** Words of the displayed phrase, in order. */
  words(): Promise<string[]>
  /** Positions of the words that the check requests, starting at 1. */
  readRequestedPlaces(): Promise<number[]>
  /** Waits until the prompt has reported to the window and closed. */
  waitUntilClosed(): Promise<void>
}

export function walletPrompt(page: Page): WalletPrompt {
  const dialog = page.getByRole('dialog').filter({ has: page.locator('iframe') })
  const frame = page.frameLocator('iframe[title$="protected form"]')
  return {
    dialog,
    frame,
    step: (title) => waitForStep(page, title),
    fill: (label, text) => frame.getByLabel(label, { exact: true }).fill(text),
    press: (button) => frame.getByRole('button', { name: button, exact: true }).click(),
    problem: async () => (await frame.getByRole('alert').textContent()) ?? '',
    words: async () => {
      const items = await frame.getByRole('listitem').allTextContents()
      return items.map((item) => item.replace(/^\d+\s*/, ''))
    },
    readRequestedPlaces: async () => {
      const labels = await frame.locator('label').allTextContents()
      return labels.map((label) => Number(label.replace('Word ', '')))
    },
    waitUntilClosed: () => dialog.waitFor({ state: 'hidden' }),
  }
}

/** Creates a wallet on the Wallet screen. @returns the words of its phrase */
export async function createWallet(page: Page, passphrase: string): Promise<string[]> {
  const prompt = walletPrompt(page)
  await page.getByRole('button', { name: 'Create a wallet' }).click()
  await prompt.step('New recovery phrase')
  await prompt.fill('New wallet passphrase', passphrase)
  await prompt.fill('Confirm passphrase', passphrase)
  await prompt.press('Continue')
  await prompt.step('Write these words down')
  const phrase = await prompt.words()
  await prompt.press('I wrote them down')
  await prompt.step('Check your copy')
  for (const index of await prompt.readRequestedPlaces()) await prompt.fill(`Word ${index}`, phrase[index - 1] ?? '')
  await prompt.press('Check')
  await prompt.waitUntilClosed()
  return phrase
}

export async function unlockWallet(page: Page, passphrase: string): Promise<void> {
  const prompt = walletPrompt(page)
  await prompt.step('Unlock the wallet')
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Unlock')
  await prompt.waitUntilClosed()
}
