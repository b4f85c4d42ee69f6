import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe } from '#shared/contract/auth.ts'
import { createConversation, deleteConversation } from '#shared/contract/chats.ts'
import { getBalance, grantCredits } from '#shared/contract/credits.ts'
import { setDomainLock } from '#shared/contract/domains.ts'
import { decideIntent, listIntents } from '#shared/contract/intents.ts'
import { buyTopUp } from '#shared/contract/localPurchases.ts'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { createSandbox, deleteSandbox, stopSandbox } from '#shared/contract/sandboxes.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import { until } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import type { Steward } from '../support/processes/steward.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Changes made while another section is open appear without a reload. */
let app: StewardInBrowser<Steward>

beforeAll(async () => {
  app = await ownStewardInBrowser({ config: { payments: { facilitator: 'test-ledger' } } })
})
afterAll(() => app?.close())

const sections = ['chat', 'domains', 'wallet', 'credits', 'payments', 'identity', 'approvals', 'activity', 'settings']

test('Terminals reflects sandboxes created, stopped and deleted while any section is open', async () => {
  const { id } = await app.sandbox('live-first')
  const window = await app.window()
  const { page } = window
  const goTo = (section: string) => page.evaluate((path) => location.assign(path), `#/${section}`)
  await window.sandbox('live-first').waitFor()
  for (const [index, section] of sections.entries()) {
    await goTo(section)
    await page.locator('h1, h2').first().waitFor()
    const created = await app.client.call(createSandbox, { name: `live-${section}` })
    await goTo('terminals')
    await window.sandbox(`live-${section}`).waitFor()
    await goTo(section)
    if (index === 0) await app.client.call(stopSandbox, { id })
    await app.client.call(deleteSandbox, { id: created.id })
    await goTo('terminals')
    await until('the deleted sandbox to be gone', async () => (await window.sandbox(`live-${section}`).count()) === 0)
    expect(await window.sandbox('live-first').count()).toBe(1)
  }
  await window.sandbox('live-first').filter({ hasText: 'Stopped' }).waitFor()
})

test('the chat list adds and removes chats that changed elsewhere', async () => {
  const window = await app.window()
  const { page } = window
  const goTo = (section: string) => page.evaluate((path) => location.assign(path), `#/${section}`)
  const begin = (title: string) => app.person.call(createConversation, { models: ['kimi-k2.5'], title })
  const first = await begin('Begun before')
  await goTo('chat')
  const findRow = (title: string) =>
    page.getByRole('link', { name: title }).or(page.getByRole('button', { name: title }))
  await findRow('Begun before').first().waitFor()
  await goTo('activity')
  const second = await begin('Begun elsewhere')
  await app.person.call(deleteConversation, { conversationId: first.id })
  await goTo('chat')
  await findRow('Begun elsewhere').first().waitFor()
  await until('the deleted chat to be gone', async () => (await findRow('Begun before').count()) === 0)
  await app.person.call(deleteConversation, { conversationId: second.id })
})

test('domains, payments and credits update while any section is open', async () => {
  // Fourth account of the Hardhat and Anvil test mnemonic.
  const key = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
  await importPrivateKey(app.person, { key, passphrase: 'orbit lantern velvet quarry mosaic' })
  const { keyrings } = await app.person.call(getWallet, {})
  const address = keyrings.flatMap(({ accounts }) => accounts).find((it) => it.chain_type === 'evm')?.address ?? ''
  for (let times = 0; times < 3; times++) await app.client.call(giveTestMoney, { address })
  const { id: accountId } = await app.client.call(getMe, {})
  const window = await app.window()
  const { page } = window
  const goTo = (section: string) => page.evaluate((path) => location.assign(path), `#/${section}`)
  const open = async (section: string, heading: string) => {
    await goTo(section)
    await page.getByRole('heading', { name: heading, level: 2, exact: true }).waitFor()
  }
  for (const section of ['domains', 'payments', 'credits']) await goTo(section)

  for (const [index, section] of ['terminals', ...sections].entries()) {
    const domain = `live-${section}.com`
    await goTo(section)
    await page.locator('h1, h2').first().waitFor()
    seedDomain(app.steward.dataFolder, { accountId, name: domain })
    await app.client.call(setDomainLock, { domain, enabled: false })
    const reason = `From ${section}`
    await app.person.call(buyTopUp, { amount_usd: 5, reason, wait_ms: 0 })
    const { intents } = await app.person.call(listIntents, { state: 'waiting' })
    expect(intents).toHaveLength(1)
    await app.person.call(decideIntent, { intentId: intents[0]?.id ?? '', approve: true })
    await app.client.call(grantCredits, { to_address: accountId, amount_cents: 100, note: reason })

    await open('domains', 'Domains')
    await page.getByRole('link', { name: domain }).waitFor()
    await open('payments', 'Payments')
    const rows = page.getByRole('list', { name: 'Payments, newest first' }).getByRole('listitem')
    await until('the payment', async () => (await rows.count()) === index + 1)
    await open('credits', 'Credits')
    await page.getByRole('region', { name: 'History' }).getByText(reason).waitFor()
    const available = page.getByRole('region', { name: 'Balance' }).getByLabel('Available', { exact: true })
    await until('the balance of now', async () => {
      const { balance_cents: cents } = await app.client.call(getBalance, {})
      return (await available.textContent()) === `$${(cents / 100).toFixed(2)}`
    })
  }
})
