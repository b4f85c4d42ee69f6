import type { Locator, Page } from 'playwright-core'
import { localEventsPath } from '#shared/contract/localApi.ts'
import { until } from '../../support/assertions/eventually.ts'
import { type TerminalPane, terminalPane } from './terminalPane.ts'

/** Page object for Steward's window. */
export type AppWindow = {
  page: Page
  /** Loads the window and waits until it lists the sandboxes and receives events. */
  open(url: string): Promise<void>
  reload(): Promise<void>
  terminal: TerminalPane
  sandbox(name: string): Locator
  select(name: string): Promise<void>
  createSandbox(options: { name: string; vcpu?: number }): Promise<void>
  /** Opens another terminal of the visible sandbox and waits until it is live. */
  newTerminal(): Promise<void>
  tabs(): Locator
  /** Runs a command of the palette by its title. */
  command(title: string): Promise<void>
  dialog(title: string): Locator
}

export function appWindow(page: Page): AppWindow {
  const list = page.getByRole('region', { name: 'Sandboxes' })
  const visible = page.locator(':visible')
  const terminal = terminalPane(page)
  const waitForLoad = async (load: () => Promise<unknown>): Promise<void> => {
    const hears = hearing(page)
    await load()
    await list.getByRole('heading', { name: 'Sandboxes' }).waitFor()
    await until('the page hears what happens', hears)
  }
  const dialog = (title: string) => page.getByRole('dialog', { name: title })
  const sandbox = (name: string) => list.getByRole('listitem').filter({ hasText: name })
  return {
    page,
    open: (url) => waitForLoad(() => page.goto(url)),
    reload: () => waitForLoad(() => page.reload()),
    terminal,
    sandbox,
    select: (name) => sandbox(name).getByRole('button').first().click(),
    async createSandbox({ name, vcpu }) {
      await list.getByRole('button', { name: 'New sandbox' }).first().click()
      const form = dialog('New sandbox')
      await form.getByLabel('Name').fill(name)
      if (vcpu !== undefined) await form.getByLabel('vCPU').fill(String(vcpu))
      await form.getByRole('button', { name: 'Create sandbox' }).click()
      await form.waitFor({ state: 'hidden' })
    },
    async newTerminal() {
      const before = await terminal.id()
      await page.getByRole('button', { name: 'New terminal', exact: true }).and(visible).first().click()
      await until('the new terminal is in view', async () => (await terminal.id()) !== before)
      await terminal.isLive()
    },
    tabs: () =>
      page
        .getByRole('tablist', { name: /^Terminals in/ })
        .getByRole('tab')
        .and(visible),
    async command(title) {
      await page.keyboard.press('Control+Shift+P')
      const palette = dialog('Commands')
      await palette.getByRole('combobox').fill(title)
      await palette.getByRole('option', { name: title }).first().click()
      await palette.waitFor({ state: 'hidden' })
    },
    dialog,
  }
}

/** Returns a function that reports whether the loaded page receives events. The page shows a notice for each event. */
function hearing(page: Page): () => boolean {
  let hears = false
  page.on('websocket', (socket) => {
    if (new URL(socket.url()).pathname !== localEventsPath) return
    socket.once('framereceived', () => {
      hears = true
    })
  })
  return () => hears
}
