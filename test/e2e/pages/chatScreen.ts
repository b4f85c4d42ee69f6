import type { Locator } from 'playwright-core'
import type { AppWindow } from './appWindow.ts'

/** Page object for the chats. */
export type ChatScreen = {
  root: Locator
  /** Visible messages, oldest first. */
  messages: Locator
  answers: Locator
  composer: Locator
  write(text: string): Promise<void>
  /** Types and sends a message, then waits until the reply starts. */
  send(text: string): Promise<void>
  /** Waits until the last reply contains this text. */
  answered(text: string | RegExp): Promise<void>
  /** Rows of the list on the left. */
  listed(title: string | RegExp): Locator
  act(message: Locator, label: string): Promise<void>
  newChat(): Promise<void>
  settings: Locator
}

export async function openChat(window: AppWindow): Promise<ChatScreen> {
  const { page } = window
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Chat', exact: true }).click()
  const root = page.getByRole('main')
  const composer = root.getByRole('form', { name: 'New message' })
  const field = composer.locator('textarea')
  await field.waitFor()
  const messages = root.getByRole('log', { name: 'Messages' })
  const answers = messages.getByRole('article', { name: /^Response from/ })
  const write = (text: string) => field.fill(text)
  return {
    root,
    messages,
    answers,
    composer,
    write,
    async send(text) {
      await write(text)
      await composer.getByRole('button', { name: 'Send' }).click()
      await messages.getByText(text, { exact: true }).last().waitFor()
    },
    answered: (text) => answers.filter({ hasText: text }).and(root.locator('[aria-busy="false"]')).last().waitFor(),
    listed: (title) => root.getByRole('navigation', { name: 'Chats' }).getByRole('link').filter({ hasText: title }),
    async act(message, label) {
      await message.hover()
      await message.getByRole('button', { name: label, exact: true }).click()
    },
    async newChat() {
      await root.locator('header').getByRole('button', { name: 'New chat' }).click()
      await root.getByRole('heading', { name: 'What do you want to know?' }).waitFor()
    },
    settings: root.getByRole('region', { name: 'Chat settings' }),
  }
}
