import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe } from '#shared/contract/auth.ts'
import { getBalance } from '#shared/contract/credits.ts'
import { addDnsRecord, listDnsRecords } from '#shared/contract/dnsRecords.ts'
import { getDomain, setDomainLock } from '#shared/contract/domains.ts'
import { exposePort } from '#shared/contract/ports.ts'
import { addSandboxDomain, listSandboxDomains, removeSandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { execInSandbox } from '#shared/contract/sandboxes.ts'
import { until } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { seedDomain, seedDomains } from '../support/fixtures/seedDomain.ts'
import type { Steward } from '../support/processes/steward.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Domain names and their DNS records, as a user finds and changes them. */
let app: StewardInBrowser<Steward>
let accountId: string
const look = pictures()
const domain = 'workshop.com'
const passphrase = 'orbit lantern velvet quarry mosaic'

beforeAll(async () => {
  // Resolver address without a listener, because tests must not query external servers.
  app = await ownStewardInBrowser({ config: { domains: { propagation_resolvers: ['127.0.0.1:9'] } } })
  accountId = (await app.client.call(getMe, {})).id
})
afterAll(() => app?.close())

async function openDomains(): Promise<Page> {
  const { page } = await app.window()
  await page.goto(`${new URL(page.url()).origin}/#/domains`) // the section reopens its last view
  await page.getByRole('heading', { name: 'Domains', level: 2, exact: true }).waitFor()
  return page
}
/** Fixtures bypass the service, which announces the domains with its next change. */
async function tellOfChange(name = domain): Promise<void> {
  await app.client.call(setDomainLock, { domain: name, enabled: false })
  await app.client.call(setDomainLock, { domain: name, enabled: true })
}
const values = async () => {
  const { records } = await app.client.call(listDnsRecords, { domain, fresh: true })
  return records.map(({ type, host, value }) => `${type} ${host} ${value}`).sort()
}

test('searches a word and a full name with prices and a warning', async () => {
  const page = await openDomains()
  await page.getByRole('heading', { name: 'No domains yet' }).waitFor()
  await look(page, 'domains-empty')
  await page.getByRole('button', { name: 'Search for a name' }).click()
  await page.getByText('Test registry: names exist at this service only.').waitFor()
  const field = page.getByLabel('Word or domain name')
  await field.fill('premium-x')
  const results = page.getByRole('region', { name: 'Results' })
  await results
    .getByRole('listitem')
    .filter({ hasText: 'premium-x.com' })
    .getByText('Premium', { exact: true })
    .waitFor()
  await field.fill('раураl.com')
  await results
    .getByText(/scripts/)
    .first()
    .waitFor()
  await field.fill('myshop')
  await results.getByText('myshop.com').waitFor()
  await results.getByText('myshop.dev').waitFor()
  expect(await results.getByText('$10.95').count()).toBeGreaterThan(0)
  await look(page, 'domains-search')
  await look.inOtherSizes(page, 'domains-search')
})

test('checks pasted names', async () => {
  const page = await openDomains()
  await page.getByRole('link', { name: 'Check names' }).click()
  const field = page.getByLabel('Names to check')
  await field.fill(Array.from({ length: 201 }, (_, index) => `n${index}.com`).join('\n'))
  await page.getByText('At most 200 can be checked at once.').waitFor()
  await field.fill('example-a.com, taken-x.com\ndown-x.com')
  await page.getByRole('button', { name: 'Check availability' }).click()
  const checked = page.getByRole('region', { name: 'Checked names' })
  await checked.getByText('1 of 3 available').waitFor()
  await look(page, 'domains-check')
})

test('applies and undoes planned DNS changes, including after the zone changed', async () => {
  seedDomain(app.steward.dataFolder, { accountId, name: domain })
  await tellOfChange()
  const page = await openDomains()
  await page.getByRole('link', { name: domain }).click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  await editor.getByText('No DNS records.').waitFor()
  const before = await values()

  await editor.getByRole('button', { name: 'Add record' }).click()
  const form = editor.getByRole('form', { name: 'New record' })
  await form.getByLabel('Value').fill('192.0.2.300')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await form.getByText('Must be an IPv4 address').waitFor()
  await form.getByLabel('Value').fill('192.0.2.1')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await editor.getByRole('button', { name: 'Templates' }).click()
  const templates = page.getByRole('dialog', { name: 'Add records from a template' })
  await templates.getByRole('button', { name: 'Your own server' }).click()
  await templates.getByLabel('IPv4 address').fill('nowhere')
  await templates.getByText('Must be an IPv4 address').waitFor()
  await templates.getByRole('button', { name: 'Fastmail' }).click()
  await look(page, 'domains-templates')
  await look.inOtherSizes(page, 'domains-templates')
  await templates.getByRole('button', { name: 'Add 6 records' }).click()
  await editor.getByText('7 unsaved changes').waitFor()
  await look(page, 'domains-edits')
  await editor.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('7 changes.').waitFor()
  expect(await dialog.getByRole('listitem').count()).toBe(7)
  await look(page, 'domains-plan')

  await app.client.call(addDnsRecord, { domain, type: 'A', host: 'other', value: '192.0.2.9' })
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.getByText(`The records of ${domain} changed in the meantime.`).waitFor()
  await dialog.getByRole('button', { name: 'Review again' }).click()
  await dialog.getByRole('button', { name: 'Apply' }).waitFor()
  await dialog.getByText('7 changes.').waitFor()
  expect(await dialog.getByRole('listitem').count()).toBe(7)
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes applied').waitFor()
  expect(await values()).toEqual([
    'A @ 192.0.2.1',
    'A other 192.0.2.9',
    ...['fm1', 'fm2', 'fm3'].map((selector) => `CNAME ${selector}._domainkey ${selector}.${domain}.dkim.fmhosted.com`),
    'MX @ in1-smtp.messagingengine.com',
    'MX @ in2-smtp.messagingengine.com',
    'TXT @ v=spf1 include:spf.messagingengine.com ?all',
  ])
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await dialog.getByText('7 changes.').waitFor()
  expect(await dialog.getByRole('listitem').count()).toBe(7)
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes undone').waitFor()
  expect(await values()).toEqual([...before, 'A other 192.0.2.9'])

  await editor.getByRole('button', { name: 'History' }).click()
  const history = page.getByRole('dialog', { name: `History of ${domain}` })
  const plans = history.getByRole('list', { name: 'Changes, newest first' }).locator('> li')
  await plans.filter({ hasText: 'Undo, 7 changes' }).waitFor()
  expect(await plans.count()).toBe(2)
  await look(page, 'domains-history')
  await plans.nth(1).getByRole('button', { name: 'Undo…' }).click()
  await page.getByRole('dialog', { name: `Undo changes to ${domain}` }).waitFor()
  await page.keyboard.press('Escape')

  // The plan and the service's changes for it appear as one row.
  await page.getByRole('link', { name: 'Show in Activity' }).click()
  const plan = page.getByRole('article').filter({ hasText: 'You applied 7 changes to the DNS records of' })
  await plan.first().getByRole('button').click()
  const steps = plan.first().getByRole('list', { name: 'Steps' }).getByRole('listitem')
  await until('the service told of all changes', async () => (await steps.count()) === 8)
  expect(
    await page
      .getByRole('article')
      .filter({ hasText: /^You (added|deleted|removed)/ })
      .count(),
  ).toBe(1)
  await look(page, 'activity-domain')
})

test('imports and exports zone files and rejects a hostile one', async () => {
  const page = await openDomains()
  await page.getByRole('link', { name: domain }).click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  await editor.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  const text = dialog.getByLabel('Zone file')
  await text.fill('$INCLUDE /etc/passwd')
  await dialog.getByText('Line 1: $INCLUDE is not allowed in an import.').waitFor()
  await text.fill('www 1 IN A 192.0.2.4\nk TXT "a; b" "c"')
  await dialog.getByText(/^2 records\. TTL raised to 300 seconds: line 1/).waitFor()
  await look(page, 'domains-import')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await editor.getByRole('button', { name: 'Review changes' }).click()
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Changes applied').waitFor()
  expect(await values()).toContain('TXT k a; bc')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    editor.getByRole('button', { name: 'Export' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`${domain}.zone`)
})

test('shows which servers already have the records', async () => {
  const page = await openDomains()
  await page.getByRole('link', { name: domain }).click()
  const section = page.getByRole('region', { name: 'Propagation' })
  await section.getByRole('button', { name: 'Check propagation' }).click()
  await section.getByText('All 3 up to date').waitFor()
  await section.getByText('The server did not respond.').waitFor()
  await section.getByRole('button', { name: /Nameserver/ }).click()
  await section.getByText('192.0.2.4').waitFor()
  await section.scrollIntoViewIfNeeded()
  await look(page, 'domains-propagation')
  await look.inOtherSizes(page, 'domains-propagation')
})

test('sets lock and nameservers and reports records that are not in use', async () => {
  const page = await openDomains()
  await page.getByRole('link', { name: domain }).click()
  // `uncheck` expects an immediate change, but the checkbox changes only with the request.
  await page.getByRole('checkbox', { name: 'Transfer lock' }).click()
  await page.getByRole('checkbox', { name: 'Transfer lock', checked: false }).waitFor()
  await page.getByRole('button', { name: 'Show the transfer code' }).click()
  await page.getByText('Anyone with this code can move the domain').waitFor()
  await page.getByRole('button', { name: 'Edit nameservers' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Nameservers').fill('ns1.example.net')
  await dialog.getByText(/from 2 to 13 host names/).waitFor()
  await dialog.getByLabel('Nameservers').fill('ns1.example.net\nns2.example.net')
  await dialog.getByRole('button', { name: 'Change nameservers' }).click()
  await page.getByText('ns2.example.net', { exact: true }).waitFor()
  await page.getByText('These records are not in use.').waitFor()
  await page.getByText('www', { exact: true }).waitFor()
  await look(page, 'domains-detail')
  await look.inOtherSizes(page, 'domains-detail')
})

const priced = 'studio-mine.xyz'
const order = (page: Page, title: string) => page.getByRole('dialog', { name: title })
const search = async (page: Page, text: string) => {
  await page.getByRole('link', { name: 'Search' }).click()
  await page.getByLabel('Word or domain name').fill(text)
}

test('buys a name with the wallet through approval, payment and receipt', async () => {
  // Second account of the well-known test mnemonic of Hardhat and Anvil.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  const page = await openDomains()
  await search(page, 'studio-mine')
  await page.getByRole('button', { name: `Buy ${priced}` }).click()
  const dialog = order(page, `Register ${priced}`)
  await dialog.getByText('You need a wallet to pay.').waitFor()
  await importPrivateKey(app.person, { key, passphrase })
  await dialog.getByRole('button', { name: 'Get 100 test USDC' }).click()
  await dialog.getByText('balance $100.00').waitFor()
  await dialog.getByText('You approve this in the next step.').waitFor()
  await look(page, 'purchase-order')
  await look.inOtherSizes(page, 'purchase-order')
  await dialog.getByRole('button', { name: /^Buy for \$/ }).click()
  const approval = dialog.getByRole('region', { name: 'Approval' })
  await approval.getByRole('button', { name: 'Approve once' }).waitFor()
  await look(page, 'purchase-approval')
  await look.inOtherSizes(page, 'purchase-approval')
  await approval.getByRole('button', { name: 'Approve once' }).click()
  await dialog.getByText(`${priced} is yours`).waitFor()
  await look(page, 'purchase-done')
  expect((await app.client.call(getDomain, { domain: priced })).status).toBe('active')
  await dialog.getByRole('button', { name: 'Receipt' }).click()
  const receipt = page.getByRole('article', { name: 'Payment' })
  await receipt.getByText(`Register ${priced} for 1 year`).waitFor()
  await receipt.getByText('Signature hash').waitFor()
  await receipt.getByRole('list', { name: 'Steps' }).getByText('Sent to the seller').waitFor()
  await look(page, 'payments-receipt')
  await look.inOtherSizes(page, 'payments-receipt')
})

test('buys a name and points it to a sandbox port in one step', async () => {
  const { id } = await app.sandbox('shop')
  await app.client.call(exposePort, { id, port: 8080 })
  const page = await openDomains()
  await search(page, 'studio-shop')
  await page.getByRole('button', { name: 'Buy studio-shop.xyz' }).click()
  const dialog = order(page, 'Register studio-shop.xyz')
  await dialog.getByLabel('Point it at a sandbox').check()
  await dialog.getByRole('button', { name: /^Sandbox/ }).click()
  await page.getByRole('menuitemradio', { name: 'shop' }).click()
  await dialog.getByRole('button', { name: /^Exposed port/ }).click()
  await page.getByRole('menuitemradio', { name: '8080' }).click()
  await look(page, 'purchase-sandbox', ['dark'])
  await dialog.getByRole('button', { name: 'Buy for $1.95' }).click()
  await dialog.getByRole('region', { name: 'Approval' }).getByRole('button', { name: 'Approve once' }).click()
  await dialog.getByText('studio-shop.xyz is yours').waitFor()
  await dialog.getByText(/points to your sandbox: http/).waitFor()
  const { domains } = await app.client.call(listSandboxDomains, { id })
  expect(domains).toMatchObject([{ domain: 'studio-shop.xyz', port: 8080, verified: true }])

  await dialog.getByRole('button', { name: 'Edit DNS records' }).click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  await editor.getByText('127.0.0.1').waitFor()
  await editor.getByRole('button', { name: 'Sandbox' }).click()
  const point = page.getByRole('dialog', { name: 'Point at a sandbox' })
  await point.getByLabel('Name').fill('api')
  await point.getByRole('button', { name: /^Sandbox/ }).click()
  await page.getByRole('menuitemradio', { name: 'shop' }).click()
  await point.getByRole('button', { name: /^Exposed port/ }).click()
  await page.getByRole('menuitemradio', { name: '8080' }).click()
  await point.getByRole('button', { name: 'Point at the sandbox' }).click()
  await editor.getByText('1 unsaved change').waitFor()
})

test('shows the link between a domain and a sandbox and restores it after removal', async () => {
  const { id } = await app.sandbox('atlas')
  await app.client.call(exposePort, { id, port: 8000, visibility: 'private' })
  const command =
    'mkdir -p /srv/w && cd /srv/w && echo from atlas > index.html && python3 -m http.server 8000 >/dev/null 2>&1 &'
  await app.client.call(execInSandbox, { id, command })
  seedDomain(app.steward.dataFolder, { accountId, name: 'northwind.com' })
  await tellOfChange('northwind.com')
  await app.client.call(addDnsRecord, { domain: 'northwind.com', type: 'A', host: '@', value: '127.0.0.1' })
  await app.client.call(addSandboxDomain, { id, domain: 'northwind.com', port: 8000 })
  const page = await openDomains()
  await page.getByRole('link', { name: 'northwind.com' }).click()
  const editor = page.getByRole('region', { name: 'DNS records' })
  const row = editor.getByRole('list', { name: 'Sandboxes of this domain' }).getByText('northwind.com → atlas:8000')
  await row.waitFor()
  await look(page, 'domain-sandbox')
  await look.inOtherSizes(page, 'domain-sandbox')
  // The port is private, so it opens with a token.
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    editor.getByRole('button', { name: 'Open northwind.com' }).click(),
  ])
  await tab.getByText('from atlas').waitFor()
  await tab.close()
  await editor.getByRole('button', { name: 'Remove northwind.com' }).click()
  await editor.getByText('1 unsaved change').waitFor() // removal of the DNS record
  await row.waitFor({ state: 'detached' })
  expect((await app.client.call(listSandboxDomains, { id })).domains).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor()
  // A record removed by another program disappears without a reload.
  await app.client.call(removeSandboxDomain, { id, domain: 'northwind.com' })
  await row.waitFor({ state: 'detached' })
})

test('a denied order is not paid and can be placed again', async () => {
  const page = await openDomains()
  await page.getByRole('link', { name: priced }).click()
  await page.getByRole('button', { name: 'Renew…', exact: true }).click()
  const dialog = order(page, `Renew ${priced}`)
  const before = (await app.client.call(getDomain, { domain: priced })).expires_at
  await dialog.getByRole('button', { name: /^Buy for \$/ }).click()
  await dialog.getByRole('region', { name: 'Approval' }).getByRole('button', { name: 'Deny' }).click()
  await dialog.getByText('Nothing was paid.').waitFor()
  await dialog.getByText('You denied it.').waitFor()
  expect((await app.client.call(getDomain, { domain: priced })).expires_at).toBe(before)
  await dialog.getByRole('button', { name: 'Back to the order' }).click()
  await dialog.getByRole('button', { name: /^Buy for \$/ }).click()
  // Amounts above $10 require the passphrase.
  await dialog.getByRole('button', { name: 'Approve once…' }).click()
  await securePromptPage(page).give(passphrase, 'Approve')
  await dialog.getByText(`${priced} is renewed`).waitFor()
  const { expires_at: after } = await app.client.call(getDomain, { domain: priced })
  expect(Number(after.slice(0, 4)) - Number(before.slice(0, 4))).toBe(1)
})

test('refunds an undelivered payment as credits', async () => {
  const page = await openDomains()
  await search(page, 'taken-at-purchase-x')
  await page.getByRole('button', { name: 'Buy taken-at-purchase-x.com' }).click()
  const dialog = order(page, 'Register taken-at-purchase-x.com')
  await dialog.getByRole('button', { name: 'Buy for $10.95' }).click()
  await dialog.getByRole('button', { name: 'Approve once…' }).click()
  await securePromptPage(page).give(passphrase, 'Approve')
  // Another buyer registered the name first. The payment is converted to credits.
  await dialog.getByText('You paid, but the order failed.').waitFor()
  await dialog.getByText('$10.95 was added to your credits.').waitFor()
  await look(page, 'purchase-failed', ['dark'])
})

test('tops up credits with a listed amount', async () => {
  const page = await openDomains()
  await page.getByRole('button', { name: 'Credits', exact: true }).click()
  const before = (await app.client.call(getBalance, {})).balance_cents
  await page.getByRole('list', { name: 'Amounts' }).getByRole('button', { name: '$5', exact: true }).click()
  const dialog = order(page, 'Top up credits')
  await dialog.getByRole('button', { name: 'Buy for $5.00' }).click()
  await dialog.getByRole('region', { name: 'Approval' }).getByRole('button', { name: 'Approve once' }).click()
  await dialog.getByText('$5.00 of credits added').waitFor()
  await look(page, 'credits-top-up', ['dark'])
  expect((await app.client.call(getBalance, {})).balance_cents - before).toBe(500)
})

test('sets limits and enforces them before asking for approval', async () => {
  const page = await openDomains()
  await page.getByRole('button', { name: 'Payments', exact: true }).click()
  const rows = page.getByRole('list', { name: 'Payments, newest first' }).getByRole('listitem')
  await rows
    .filter({ hasText: `Renew ${priced}` })
    .filter({ hasText: 'Not paid' })
    .waitFor()
  await rows
    .filter({ hasText: `Register ${priced}` })
    .filter({ hasText: 'Paid' })
    .waitFor()
  await look(page, 'payments')
  await look.inOtherSizes(page, 'payments')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(readFileSync(await download.path(), 'utf8')).toContain(priced)
  await page.getByLabel('Search payments').fill('nothing like it')
  await page.getByText('No matching payments.').waitFor()
  await page.getByRole('link', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Change limits' }).click()
  const form = page.getByRole('dialog', { name: 'Payment limits' })
  await form.getByLabel('One payment').fill('much')
  await form.getByRole('button', { name: 'Save limits' }).click()
  await form.getByText('Enter dollars, such as 25 or 0.50.').waitFor()
  await form.getByLabel('One payment').fill('1')
  await form.getByLabel('Calendar month').fill('40')
  await look(page, 'payments-limits-form')
  await form.getByRole('button', { name: 'Save limits' }).click()
  await page.getByText('Payment limits saved').waitFor()
  await page.getByRole('list', { name: 'Payment limits' }).getByText('of $40.00').waitFor()
  await look(page, 'payments-limits')
  await look.inOtherSizes(page, 'payments-limits')

  await page.getByRole('button', { name: 'Domains', exact: true }).click()
  await search(page, 'studio-other')
  await page.getByRole('button', { name: 'Buy studio-other.xyz' }).click()
  const dialog = order(page, 'Register studio-other.xyz')
  await dialog.getByText('This would be refused.').waitFor()
  await dialog.getByText(/above your limit of \$1\.00/).waitFor()
  expect(await dialog.getByRole('button', { name: /^Buy for/ }).isDisabled()).toBe(true)
  await look(page, 'purchase-refused')
  await dialog.getByRole('button', { name: 'Change limits' }).click()
  await page.getByRole('list', { name: 'Payment limits' }).waitFor()
})

test('changes many domains together and names those that failed', async () => {
  const names = ['bulk-a.com', 'bulk-b.com', 'down-bulk.com']
  seedDomains(
    app.steward.dataFolder,
    names.map((name) => ({ accountId, name })),
  )
  await tellOfChange()
  const page = await openDomains()
  await page.getByLabel('Filter domains').fill('bulk')
  await page.getByRole('link', { name: 'down-bulk.com' }).waitFor()
  await page.getByLabel('Select all shown').check()
  const bar = page.getByRole('region', { name: 'Selected domains' })
  await bar.getByText('3 selected').waitFor()
  await look(page, 'domains-bulk')
  await look.inOtherSizes(page, 'domains-bulk')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    bar.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(readFileSync(await download.path(), 'utf8').split('\r\n')).toHaveLength(5)
  await bar.getByRole('button', { name: 'Transfer lock' }).click()
  await page.getByRole('menuitem', { name: 'Unlock' }).click()
  const dialog = page.getByRole('dialog', { name: 'Unlock transfers: 3 domains' })
  await dialog.getByRole('button', { name: 'Unlock transfers' }).click()
  await dialog.getByText('2 of 3 changed, 1 failed').waitFor()
  await dialog.getByRole('list', { name: 'Failed' }).getByText('down-bulk.com').waitFor()
  await look(page, 'domains-bulk-failed', ['dark'])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  expect((await app.client.call(getDomain, { domain: 'bulk-a.com' })).locked).toBe(false)
  expect((await app.client.call(getDomain, { domain: 'down-bulk.com' })).locked).toBe(true)
})

test('scrolls through 5,000 domains and shows their age when the service is down', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `name${String(index).padStart(4, '0')}.com`)
  seedDomains(
    app.steward.dataFolder,
    names.map((name) => ({ accountId, name })),
  )
  await tellOfChange()
  const page = await openDomains()
  const list = page.getByRole('list', { name: 'Your domains' })
  await list.getByRole('link', { name: 'name0000.com' }).waitFor()
  expect(await list.getByRole('listitem').count()).toBeLessThan(80)
  await list.evaluate((element) => element.closest('.overflow-y-auto')?.scrollTo(0, 1e9))
  await list.getByRole('link', { name: domain }).waitFor()
  await page.getByLabel('Filter domains').fill('name4321')
  await list.getByRole('link', { name: 'name4321.com' }).waitFor()
  await page.getByLabel('Filter domains').fill('')
  await look(page, 'domains')
  await look.inOtherSizes(page, 'domains')

  process.kill(app.steward.pids().service, 'SIGSTOP')
  try {
    await page.locator('[data-source]').first().waitFor()
    await page.getByLabel('Filter domains').fill(domain)
    await list.getByRole('link', { name: domain }).click()
    await page.getByText('ns2.example.net', { exact: true }).waitFor()
  } finally {
    process.kill(app.steward.pids().service, 'SIGCONT')
  }
})
