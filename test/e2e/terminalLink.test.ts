import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApiKey, revokeApiKey } from '#shared/contract/accounts.ts'
import { createTerminal, createTerminalLink } from '#shared/contract/terminals.ts'
import { openWindow } from '../support/clients/browser.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'
import { terminalPane } from './pages/terminalPane.ts'

let app: StewardInBrowser

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

test('a terminal link ends with the API key that issued it', async () => {
  const { id } = await app.sandbox('lent-box')
  await app.client.call(createTerminal, { id, command: 'bash' })
  const { id: keyId, key } = await app.client.call(createApiKey, { name: 'lender' })
  const lender = createStewardClient(app.steward.serviceUrl, key)
  const { terminal_url: url } = await lender.call(createTerminalLink, { id })
  const opened = await openWindow(app.browser)
  onTestFinished(() => opened.close())
  const terminal = terminalPane(opened.page)
  await opened.page.goto(url)
  await terminal.isLive()
  await app.client.call(revokeApiKey, { keyId })
  await opened.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  expect(await opened.page.getByText('if the sandbox stops or their API key is revoked').isVisible()).toBe(true)
})
