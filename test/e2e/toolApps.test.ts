import type { Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { receiptUri } from '#agent/tools/mcpApps.ts'
import { getPayment, listPayments } from '#shared/contract/localPayments.ts'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { createToolClient } from '#shared/contract/toolClients.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import { type AppHost, createAppHost } from '../support/appHost/appHost.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpClient } from '../support/clients/mcpClients.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'
import { createWallet } from './pages/walletPrompt.ts'

/** Page of approvals and receipts in an MCP Apps host, with the extension's own bridge and the official client. */
let app: StewardInBrowser
let mcp: McpClient
let host: AppHost
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser({ config: { wallet: { secret_store: 'vault_file' } } })
})
// Each attempt uses a new client, because a client that repeats a call gets the payment of the first call.
beforeEach(async () => {
  const { key } = await app.person.call(createToolClient, { name: 'researcher' })
  mcp = await createMcpClient({ url: `${new URL(app.steward.url).origin}/mcp`, key })
  host = await createAppHost({ browser: app.browser, client: mcp.client, uri: receiptUri })
})
afterEach(async () => {
  const { complaints } = host
  await host.close()
  await mcp.client.close()
  expect(complaints).toEqual([])
})
afterAll(() => app?.close())

const heading = (text: string) => host.frame.getByRole('heading', { name: text, exact: true }).waitFor()

/** Result for a client that has waited for twenty seconds. */
const waiting = (id: string, message: string) => ({
  content: [],
  structuredContent: { waiting: { id, for: 'person', message, expires_at: null } },
})

test('a purchase waits for approval in Steward and then shows its receipt', async () => {
  const { page } = await app.window()
  await page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('button', { name: /^Wallet/ })
    .click()
  if ((await app.person.call(getWallet, {})).state === 'absent') {
    await createWallet(page, 'velvet harbor orbit mosaic lantern')
  }
  const { keyrings } = await app.person.call(getWallet, {})
  const address = keyrings.flatMap(({ accounts }) => accounts).find((it) => it.chain_type === 'evm')?.address ?? ''
  await app.client.call(giveTestMoney, { address })

  const buying = mcp.client.callTool({ name: 'credits_topup', arguments: { amount_usd: 5 } })
  await host.show()
  await heading('In progress')
  const payment = await until('the payment to wait', async () => {
    const { payments } = await app.person.call(listPayments, {})
    return payments.find(({ state }) => state === 'waiting')
  })
  await host.give(waiting(payment.id, payment.title))
  await heading('Waiting for approval')
  await host.frame.getByText('Approve or deny it in Steward, under Approvals.').waitFor()
  await look(host.page, 'tool-app-waiting', ['light'])

  const approvals = approvalsScreen(page)
  await approvals.open()
  await approvals.isArmed()
  await approvals.approveOnce()
  await approvals.became('Signed')
  const result = await buying
  await host.page.bringToFront()
  await heading('Paid')
  await host.frame.getByText('5.00 test USDC', { exact: true }).waitFor()
  const { transaction } = await app.person.call(getPayment, { paymentId: payment.id })
  await host.frame.getByText(transaction ?? 'no transaction').waitFor()
  await look(host.page, 'tool-app-paid', ['light'])
  await host.setTheme('dark')
  await host.frame.locator('html[data-theme=dark]').waitFor()
  await look(host.page, 'tool-app-paid', ['dark'])
  expect(new Set(host.calls)).toEqual(new Set(['approval_status']))

  await host.show({ mayCall: false })
  await host.give(result)
  await heading('Paid')
})

test('does not run a refused call, and the page says so', async () => {
  const sandbox = await app.sandbox('atlas')
  const { page } = await app.window()
  const deleting = mcp.client.callTool({ name: 'sandbox_delete', arguments: { sandbox_id: sandbox.id } })
  const approvals = approvalsScreen(page)
  await approvals.open()
  await approvals.isArmed()
  await approvals.deny()
  await host.show()
  await host.give(await deleting)
  await heading('Not done')
  await look(host.page, 'tool-app-refused', ['light'])
})

test('renders untrusted text as text in each color scheme without network requests', async () => {
  const calls: string[] = []
  const listen = (request: Request): void => void calls.push(new URL(request.url()).pathname)
  host.page.on('request', listen)
  onTestFinished(() => void host.page.off('request', listen))
  await host.show({ theme: 'dark' })
  const hostile = '<img src=x onerror="parent.hacked=1"><script>parent.hacked=1</script> \u202eevil\u200b'
  await host.give({
    content: [{ type: 'text', text: hostile }],
    structuredContent: {
      payment: {
        ...{ id: 'pay_x', state: 'settled', sentence: hostile, title: hostile, amount_usd: 1, network: hostile },
        ...{ transaction: hostile, transaction_url: 'javascript:parent.hacked=1', test: false },
      },
    },
  })
  await heading('Paid')
  await eventually(async () => {
    expect(await host.frame.locator('main').textContent()).toContain('<U+202E>evil<U+200B>')
  })
  expect(await host.frame.locator('img, a, button, main script').count()).toBe(0)
  expect(await host.page.evaluate('window.hacked')).toBeUndefined()
  expect(calls).toEqual(['/app'])
  await host.frame.locator('html[data-theme=dark]').waitFor()
  await host.setTheme('light')
  await host.frame.locator('html[data-theme=light]').waitFor()
})

test('only the host opens a link', async () => {
  await host.show()
  const url = `https://basescan.org/tx/0x${'a'.repeat(64)}`
  const payment = { state: 'settled', amount_usd: 1, transaction: `0x${'a'.repeat(64)}`, transaction_url: url }
  await host.give({ content: [], structuredContent: { payment } })
  await host.frame.getByRole('button', { name: /^Transaction 0x/ }).click()
  await eventually(async () => expect(await host.links()).toEqual([url]))
})

test('sends no requests after the host ends the app', async () => {
  await host.show()
  await heading('In progress')
  await host.end()
  const before = host.calls.length
  await host.give(waiting(`pay_${'0'.repeat(24)}`, 'Too late.'))
  await heading('Waiting for approval')
  // The request would have arrived before this message.
  await host.setTheme('dark')
  await host.frame.locator('html[data-theme=dark]').waitFor()
  await host.page.evaluate('new Promise((resolve) => setTimeout(resolve))')
  expect(host.calls.length).toBe(before)
})
