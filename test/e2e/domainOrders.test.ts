import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getBalance } from '#shared/contract/credits.ts'
import { listDomains } from '#shared/contract/domains.ts'
import { listPayments } from '#shared/contract/localPayments.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Failures between the quote and the registration, with a registrar over real HTTP. */
let registrar: Awaited<ReturnType<typeof nameSiloServer>>
let app: StewardInBrowser
const look = pictures()
// Third account of the well-known test mnemonic of Hardhat and Anvil.
const key = '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'

beforeAll(async () => {
  registrar = await nameSiloServer()
  const keyFile = join(temporaryFolder('registrar-key'), 'key')
  writeFileSync(keyFile, nameSiloKey, { mode: 0o600 })
  app = await ownStewardInBrowser({
    config: {
      payments: { facilitator: 'test-ledger' },
      domains: { registrar: { namesilo: { api_key_file: keyFile, url: registrar.url } } },
    },
  })
  await importPrivateKey(app.person, { key, passphrase: 'orbit lantern velvet quarry mosaic' })
})
afterAll(async () => {
  await app?.close()
  await registrar?.close()
})

async function ordering(name: string): Promise<{ page: Page; dialog: ReturnType<Page['getByRole']> }> {
  const { page } = await app.window()
  await page.getByRole('button', { name: 'Domains', exact: true }).click()
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await page.getByLabel('Word or domain name').fill(name)
  await page.getByRole('button', { name: `Buy ${name}` }).click()
  return { page, dialog: page.getByRole('dialog', { name: `Register ${name}` }) }
}
const listOwned = async () => (await app.client.call(listDomains, {})).domains.map(({ domain }) => domain)
const payments = async (search: string) => (await app.person.call(listPayments, { search })).payments

test('refuses a price that changed after the quote and shows both prices', async () => {
  const { dialog } = await ordering('moved-price.org')
  await dialog.getByRole('button', { name: 'Get 100 test USDC' }).click()
  await dialog.getByText('balance $100.00').waitFor()
  const buy = dialog.getByRole('button', { name: 'Buy for $9.79' })
  await buy.waitFor()
  registrar.costs('org', [11.29, 12.29])
  await buy.click()
  await dialog.getByText('The seller asks for $11.29, not for $9.79.').waitFor()
  await look(dialog.page(), 'purchase-price-moved')
  expect(await payments('moved-price.org')).toEqual([])
  expect(registrar.billed).toEqual([])
  registrar.costs('org', [9.79, 11.29])
})

test('shows an order with unknown outcome as open until it becomes one paid domain', async () => {
  const name = 'unclear-order.org'
  const { page, dialog } = await ordering(name)
  const credits = (await app.client.call(getBalance, {})).balance_cents
  // Executes the request but drops its response.
  registrar.pauses(async ({ path }) => {
    if (path.endsWith('registerDomain')) registrar.meets({ at: '/api/', moves: true, how: 'cut', times: 1_000 })
  })
  await dialog.getByRole('button', { name: 'Buy for $9.79' }).click()
  await dialog.getByRole('region', { name: 'Approval' }).getByRole('button', { name: 'Approve once' }).click()
  await eventually(async () => expect((await payments(name))[0]?.state).toBe('unknown'))
  await dialog
    .getByText(/don’t know yet/)
    .first()
    .waitFor()
  await look(page, 'purchase-unclear')
  expect(await listOwned()).not.toContain(name)

  registrar.pauses(undefined)
  registrar.meets(undefined)
  await dialog.getByText(`${name} is yours`).waitFor()
  expect(await payments(name)).toMatchObject([{ state: 'settled', paid: true, amount: '9790000' }])
  expect(registrar.billed).toEqual([`register ${name}`])
  expect((await listOwned()).filter((it) => it === name)).toHaveLength(1)
  expect((await app.client.call(getBalance, {})).balance_cents).toBe(credits)
})
