import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/assertions/eventually.ts'

/** Page object for the Approvals section. */
export type ApprovalsScreen = {
  open(): Promise<void>
  request: Locator
  /** Waits until the visible request matches this sentence. */
  shows(sentence: string | RegExp): Promise<void>
  row(sentence: string | RegExp): Locator
  /** Waits until the button is enabled, which it is not at first. */
  approveOnce(): Promise<void>
  deny(): Promise<void>
  /** Waits for the state of the visible request, such as `Signed` or `Denied`. */
  became(text: string): Promise<void>
  button(name: string): Locator
  isArmed(): Promise<void>
}

export function approvalsScreen(page: Page): ApprovalsScreen {
  const request = page.getByRole('article', { name: 'Request' })
  const button = (name: string) => request.getByRole('button', { name, exact: true })
  const isArmed = () =>
    until('the decision can be made', () => button('Approve once').isEnabled()).then(() => undefined)
  return {
    open: async () => {
      await page.getByRole('button', { name: /^Approvals/ }).click()
      await page.getByRole('button', { name: 'Stop everything' }).waitFor()
    },
    request,
    shows: (sentence) => request.locator('header').getByText(sentence).first().waitFor(),
    row: (sentence) => page.getByRole('region', { name: 'Requests' }).getByRole('link', { name: sentence }),
    approveOnce: () => button('Approve once').click(),
    deny: () => button('Deny').click(),
    became: (text) => request.getByText(text, { exact: true }).first().waitFor(),
    button,
    isArmed,
  }
}
