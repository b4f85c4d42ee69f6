import type { Locator, Page } from 'playwright-core'

/** Page object for the Identity section. */
export type IdentityScreen = {
  open(): Promise<void>
  /** Opens the form, which is empty except for defaults. */
  begin(): Promise<void>
  form: Locator
  /** Fills the form from the text of a JSON file. */
  fillFrom(text: string): Promise<void>
  typePrompt(prompt: string): Promise<void>
  /** Continues to the content that is signed. */
  review(): Promise<Locator>
  askForApproval(): Promise<void>
  /** Navigates from a pending registration to its request in Approvals. */
  toRequest(): Promise<void>
  automaton: Locator
  /** Waits for the state of the visible automaton, such as `Registered`, `Needs you` or `Denied`. */
  is(text: string): Promise<void>
  row(name: string): Locator
}

export function identityScreen(page: Page): IdentityScreen {
  const form = page.getByRole('form', { name: 'Register automaton' })
  const review = page.getByRole('form', { name: 'Review' })
  const automaton = page.getByRole('article', { name: 'Automaton' })
  return {
    async open() {
      await page.getByRole('button', { name: 'Identity', exact: true }).click()
      await page.getByRole('heading', { name: 'Identity', level: 2 }).waitFor()
    },
    async begin() {
      await page.getByRole('button', { name: 'Register automaton' }).click()
      await form.waitFor()
    },
    form,
    async fillFrom(text) {
      const file = { name: 'automaton.json', mimeType: 'application/json', buffer: Buffer.from(text) }
      await form.locator('input[type=file]').first().setInputFiles(file)
    },
    async typePrompt(prompt) {
      await form.getByRole('button', { name: /^Genesis prompt/ }).click()
      await page.getByRole('menuitemradio', { name: 'Type or paste' }).click()
      await form.getByLabel('Prompt', { exact: true }).fill(prompt)
      await form.getByText('keccak256').last().waitFor()
    },
    async review() {
      await form.getByRole('button', { name: 'Review' }).click()
      await review.waitFor()
      return review
    },
    async askForApproval() {
      await review.getByRole('button', { name: 'Request approval' }).click()
      await automaton.waitFor()
    },
    toRequest: () => automaton.getByRole('link', { name: 'Review' }).click(),
    automaton,
    is: (text) => automaton.getByRole('status').getByText(text, { exact: true }).waitFor(),
    row: (name) => page.getByRole('list', { name: 'Automatons' }).getByRole('link', { name }),
  }
}
