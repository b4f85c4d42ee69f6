import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe } from '#shared/contract/auth.ts'
import { addDnsRecord, listDnsRecords } from '#shared/contract/dnsRecords.ts'
import { listDomainPrices } from '#shared/contract/domainSearch.ts'
import { getDomain, setDomainLock } from '#shared/contract/domains.ts'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import type { Steward } from '../support/processes/steward.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/**
 * Expiring domains: notices, auto-renewal from the wallet and planned renewals. Also covers records that are withdrawn
 * and requested.
 */
const run = promisify(execFile)
let app: StewardInBrowser<Steward>
let accountId: string
const look = pictures()
const dayMs = 24 * 3600 * 1000
const soon = 'harbour-soon.com'
const later = 'harbour-later.com'
const passphrase = 'orbit lantern velvet quarry mosaic'
// Fourth account of the well-known test mnemonic of Hardhat and Anvil, and its address.
const key = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
const address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

beforeAll(async () => {
  app = await ownStewardInBrowser({ config: { domains: { propagation_resolvers: ['127.0.0.1:9'] } } })
  accountId = (await app.client.call(getMe, {})).id
  plantExpiring(soon, 6)
  plantExpiring(later, 80)
  plantExpiring('quiet.com', 365)
  await tellOfChange()
})
afterAll(() => app?.close())

const plantExpiring = (name: string, days: number) =>
  seedDomain(app.steward.dataFolder, { accountId, name, expiresAtMs: Date.now() + days * dayMs })
/** Fixtures bypass the service, which announces the domains with its next change. */
async function tellOfChange(): Promise<void> {
  await app.client.call(setDomainLock, { domain: soon, enabled: false })
  await app.client.call(setDomainLock, { domain: soon, enabled: true })
}
async function openDomains(): Promise<Page> {
  const { page } = await app.window()
  await page.getByRole('button', { name: /^Domains/ }).click()
  await page.getByRole('heading', { name: 'Domains', level: 2, exact: true }).waitFor()
  return page
}
const findRow = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Your domains' }).getByRole('listitem').filter({ hasText: name })
const expiry = async (domain: string) => (await app.client.call(getDomain, { domain })).expires_at

test('marks a domain that expires soon until the user dismisses the notice', async () => {
  const page = await openDomains()
  await page.getByRole('button', { name: 'Domains: 1 needs attention' }).waitFor()
  const notice = page.getByRole('region', { name: 'Expiring domains' })
  await notice.getByRole('link', { name: soon }).waitFor()
  await findRow(page, soon).getByText('6 days').waitFor()
  await look(page, 'domains-expiring')
  await look.inOtherSizes(page, 'domains-expiring')
  await notice.getByRole('button', { name: 'Dismiss' }).click()
  await notice.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Domains', exact: true }).waitFor()
})

test('auto-renew reports the missing wallet', async () => {
  const page = await openDomains()
  await findRow(page, soon).getByRole('link').click()
  await page.getByText('Auto-renew pays from a wallet on this computer.').waitFor()
  expect(await page.getByRole('button', { name: 'Turn on auto-renew…' }).count()).toBe(0)
  await look(page, 'domains-renewal-no-wallet', ['dark'])
})

test('a due domain waits for approval and renews after it', async () => {
  await importPrivateKey(app.person, { key, passphrase })
  await app.client.call(giveTestMoney, { address })
  const before = await expiry(soon)
  const page = await openDomains()
  await findRow(page, soon).getByRole('link').click()
  await page.getByRole('button', { name: 'Turn on auto-renew…' }).click()
  const dialog = page.getByRole('dialog', { name: `Auto-renew ${soon}` })
  await dialog.getByText('1 year costs $11.95 now.').waitFor()
  expect(await dialog.getByLabel('Price limit').inputValue()).toBe('12')
  await dialog.getByLabel('Price limit').fill('nothing')
  await dialog.getByRole('button', { name: 'Turn on auto-renew' }).click()
  await dialog.getByText('Enter dollars above 0').waitFor()
  await dialog.getByLabel('Price limit').fill('5')
  await look(page, 'domains-renewal-form')
  await look.inOtherSizes(page, 'domains-renewal-form')
  await dialog.getByRole('button', { name: 'Turn on auto-renew' }).click()
  await page.getByText('The price is $11.95, which is above $5.00.').first().waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await look(page, 'domains-renewal-blocked')
  await look.inOtherSizes(page, 'domains-renewal-blocked')

  await page.getByRole('button', { name: 'Change…' }).click()
  await dialog.getByLabel('Price limit').fill('12')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The renewal needs your approval.').waitFor()
  await page.getByRole('link', { name: 'Show in Approvals' }).click()
  await page.getByText(`Auto-renew: ${soon} expires on`).first().waitFor()
  await page.getByRole('button', { name: 'Approve once…' }).first().click()
  await securePromptPage(page).give(passphrase, 'Approve')
  await eventually(async () => expect(Number((await expiry(soon)).slice(0, 4))).toBe(Number(before.slice(0, 4)) + 1))
  await page.getByText(`${soon} was renewed`).first().waitFor()
})

test('turns on auto-renew for many domains and shows their state and price', async () => {
  const page = await openDomains()
  await page.getByLabel('Filter domains').fill('harbour-later')
  await page.getByLabel('Select all shown').check()
  await page.getByRole('region', { name: 'Selected domains' }).getByRole('button', { name: 'Auto-renew' }).click()
  await page.getByRole('menuitem', { name: 'Turn on…' }).click()
  const dialog = page.getByRole('dialog', { name: `Auto-renew ${later}` })
  await dialog.getByLabel('Price limit').fill('20')
  await dialog.getByRole('button', { name: 'Turn on auto-renew' }).click()
  const bulk = page.getByRole('dialog', { name: 'Turn on auto-renew: 1 domain' })
  await bulk.getByRole('button', { name: 'Turn on auto-renew' }).click()
  await bulk.getByText('1 of 1 changed').waitFor()
  await bulk.getByRole('button', { name: 'Close' }).last().click()
  await findRow(page, later).getByText('On', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Payments', exact: true }).click()
  await page.getByRole('link', { name: 'Limits' }).click()
  const planned = page.getByRole('region', { name: 'Planned renewals' })
  await planned.getByRole('link', { name: later }).waitFor()
  await planned.getByText('Your limits cover all planned renewals.').waitFor()
  expect(await planned.getByText('$11.95').count()).toBe(2)
  await planned.scrollIntoViewIfNeeded()
  await look(page, 'payments-planned')
  await look.inOtherSizes(page, 'payments-planned')
})

test('refuses an undo after conflicting changes and plans it from the current records', async () => {
  const domain = 'quiet.com'
  const values = async () =>
    (await app.client.call(listDnsRecords, { domain, fresh: true })).records
      .map((record) => `${record.host} ${record.value}`)
      .sort()
  const page = await openDomains()
  await findRow(page, domain).getByRole('link').click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  await editor.getByRole('button', { name: 'Add record' }).click()
  const form = editor.getByRole('form', { name: 'New record' })
  await form.getByLabel('Value').fill('192.0.2.1')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await editor.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes applied').waitFor()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await dialog.getByText('1 change.').waitFor()
  await app.client.call(addDnsRecord, { domain, type: 'A', host: 'other', value: '192.0.2.9' })
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.getByText(`The records of ${domain} changed in the meantime.`).waitFor()
  await look(page, 'domains-undo-moved', ['dark'])
  expect(await values()).toEqual(['@ 192.0.2.1', 'other 192.0.2.9'])
  await dialog.getByRole('button', { name: 'Review again' }).click()
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes undone').waitFor()
  expect(await values()).toEqual(['other 192.0.2.9'])
})

test('dig returns records of every type edited in the window', async () => {
  const domain = 'quiet.com'
  const page = await openDomains()
  await findRow(page, domain).getByRole('link').click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  await editor.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  const long = 'x'.repeat(300)
  const file = [
    'www 300 IN A 192.0.2.4',
    'six 300 IN AAAA 2001:db8::4',
    'alias 300 IN CNAME www.quiet.com.',
    '@ 300 IN MX 10 mail.example.net.',
    `text 300 IN TXT "${long.slice(0, 255)}" "${long.slice(255)}"`,
    '_sip._tcp 300 IN SRV 5 7 5060 sip.example.net.',
    '@ 300 IN CAA 0 issue "ca.example.net"',
    'part 300 IN NS ns.example.net.',
  ]
  await dialog.getByLabel('Zone file').fill(file.join('\n'))
  await dialog.getByText('8 records.').waitFor()
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await editor.getByRole('button', { name: 'Review changes' }).click()
  await dialog.getByText('8 changes.').waitFor()
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes applied').waitFor()
  await look(page, 'domains-every-type')
  await look.inOtherSizes(page, 'domains-every-type')

  const { dns_server: server } = await app.client.call(listDomainPrices, {})
  const [, port = ''] = /:(\d+)$/.exec(server ?? '') ?? []
  const dig = async (name: string, type: string) => {
    const digOptions = ['@127.0.0.1', '-p', port, '+noall', '+answer', '+authority', '+norecurse', '+tries=1']
    const { stdout } = await run('dig', [...digOptions, name, type])
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(3).join(' '))
  }
  expect(await dig('www.quiet.com', 'A')).toEqual(['A 192.0.2.4'])
  expect(await dig('six.quiet.com', 'AAAA')).toEqual(['AAAA 2001:db8::4'])
  expect(await dig('alias.quiet.com', 'CNAME')).toEqual(['CNAME www.quiet.com.'])
  expect(await dig(domain, 'MX')).toEqual(['MX 10 mail.example.net.'])
  expect(await dig('text.quiet.com', 'TXT')).toEqual([`TXT "${long.slice(0, 255)}" "${long.slice(255)}"`])
  expect(await dig('_sip._tcp.quiet.com', 'SRV')).toEqual(['SRV 5 7 5060 sip.example.net.'])
  expect(await dig(domain, 'CAA')).toEqual(['CAA 0 issue "ca.example.net"'])
  expect(await dig('part.quiet.com', 'NS')).toEqual(['NS ns.example.net.'])
})
