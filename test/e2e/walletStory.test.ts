import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getAutomaton, listAutomatons } from '#shared/contract/automatons.ts'
import { openActivity } from './pages/activityScreen.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** A user's path from an empty installation to a registered automaton, with the phrase written down on paper. */
let app: StewardInBrowser

const passphrase = 'velvet harbor orbit mosaic lantern'

beforeAll(async () => {
  const url = 'http://127.0.0.1:9/' // port of `discard`, without a listener: no network is needed
  const rpc = { base: url, base_sepolia: url }
  app = await ownStewardInBrowser({ config: { wallet: { secret_store: 'vault_file', rpc } } })
})
afterAll(() => app?.close())

test('creates and locks a wallet, decides two registrations and verifies the activity log', async () => {
  const window = await app.window()
  const { page } = window
  await createWallet(window)
  await page.getByText(/^Unlocked · /).waitFor()
  await page.getByRole('button', { name: 'Lock', exact: true }).click()
  await page.getByText(/^Locked · /).waitFor()
  await page.getByRole('button', { name: 'Unlock', exact: true }).click()
  await securePromptPage(page).give(passphrase, 'Unlock')
  await page.getByText(/^Unlocked · /).waitFor()

  const screen = approvalsScreen(page)
  const registered = await askToRegister(page, 'Archivist')
  await screen.shows(/^Register the automaton “Archivist”/)
  await screen.approveOnce()
  await screen.became('Signed')
  await showAutomaton(page, 'Archivist', 'Registered')
  expect(await app.client.call(getAutomaton, { id: registered })).toMatchObject({
    automaton: { name: 'Archivist', status: 'registered', chain_type: 'evm' },
  })

  const denied = await askToRegister(page, 'Impostor')
  await screen.shows(/^Register the automaton “Impostor”/)
  await screen.deny()
  await screen.became('Denied')
  await showAutomaton(page, 'Impostor', 'Denied')
  await page.getByText('Nothing was signed or sent.').waitFor()
  await expect(app.client.call(getAutomaton, { id: denied })).rejects.toThrow(/404/)
  const { automatons } = await app.client.call(listAutomatons, {})
  expect(automatons.map(({ name }) => name)).toEqual(['Archivist'])

  const activity = await openActivity(window)
  for (const line of [
    'locked the wallet',
    'unlocked the wallet',
    /asked to register .*“Archivist”.*Registered/,
    /asked to register .*“Impostor”.*Denied/,
  ])
    await activity.sees(line)
  expect(await activity.verify()).toMatch(/^Entries 1 to \d+ are intact$/)
})

async function createWallet({ page }: AppWindow): Promise<void> {
  await section(page, 'Wallet')
  await page.getByRole('button', { name: 'Create a wallet' }).click()
  const prompt = securePromptPage(page)
  await prompt.step('New recovery phrase')
  await prompt.fill('New wallet passphrase', passphrase)
  await prompt.fill('Confirm passphrase', passphrase)
  await prompt.press('Continue')
  await prompt.step('Write these words down')
  const paper = (await prompt.frame.locator('ol.words li').allTextContents()).map((line) => line.replace(/^\d+/, ''))
  expect(paper).toHaveLength(12)
  await prompt.press('I wrote them down')
  await prompt.step('Check your copy')
  const fields = await prompt.frame.getByRole('textbox', { name: /^Word \d+$/ }).all()
  expect(fields).toHaveLength(3)
  for (const word of ['wrong', undefined]) {
    for (const label of await prompt.frame.locator('label').allTextContents()) {
      const index = Number(/^Word (\d+)$/.exec(label)?.[1])
      await prompt.fill(label, word ?? paper[index - 1] ?? '')
    }
    await prompt.press('Check')
    if (!word) continue
    await prompt.frame.getByRole('alert').waitFor()
    await prompt.step('Check your copy')
  }
  await prompt.waitUntilClosed()
}

/** Submits a registration and leaves its request pending. @returns the id of the automaton */
async function askToRegister(page: Page, name: string): Promise<string> {
  await section(page, 'Identity')
  await page.getByRole('button', { name: 'Register automaton' }).first().click()
  const form = page.getByRole('form', { name: 'Register automaton' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Bio').fill('Keeps what others forget.')
  const id = await form.getByLabel('Automaton ID').inputValue()
  await form.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Request approval' }).click()
  await page.getByRole('link', { name: 'Review' }).click()
  return id
}

/** Waits until the automaton has this state. */
async function showAutomaton(page: Page, name: string, state: string): Promise<void> {
  await section(page, 'Identity')
  await page
    .getByRole('list', { name: 'Automatons' })
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click()
  const automaton = page.getByRole('article', { name: 'Automaton' })
  await automaton.getByRole('heading', { name }).waitFor()
  await automaton.getByRole('status').filter({ hasText: state }).waitFor()
}

const section = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click()
