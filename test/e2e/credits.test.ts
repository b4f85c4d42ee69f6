import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApiKey } from '#shared/contract/accounts.ts'
import { getMe } from '#shared/contract/auth.ts'
import { getBalance, grantCredits, listTransactions } from '#shared/contract/credits.ts'
import { until } from '../support/assertions/eventually.ts'
import { seedCharge, seedCharges, seedHold } from '../support/fixtures/seedCharge.ts'
import { openCredits } from './pages/creditsScreen.ts'
import { openDetails } from './pages/detailsPanel.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Credits in the window, with the real service and charges from its ledger. */
let app: StewardInBrowser
let ownerId: string
const look = pictures()
const dayMs = 24 * 60 * 60_000
const models = ['claude-opus-4.6', 'gpt-5.2', 'gemini-3-flash', 'kimi-k2.5', 'qwen3-coder', 'claude-haiku-4.5']

beforeAll(async () => {
  app = await ownStewardInBrowser()
  ownerId = (await app.client.call(getMe, {})).id
})
afterAll(() => app?.close())

const toast = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor()

test('starts with a metered balance of ten dollars and nothing else', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.reads('Available', '$10.00')
  await credits.root.getByText('Metered usage of your own provider keys', { exact: true }).waitFor()
  await credits.part('Spending').getByText('Nothing spent in this period.').waitFor()
  await credits.part('Running sandboxes').getByText('No sandbox is running.').waitFor()
  await credits.part('API key limits').getByText('No key has a daily limit.').waitFor()
  await credits.part('Chat limits').getByText('$0.00 · no limit').waitFor()
  await credits.rows.filter({ hasText: 'First credits' }).waitFor()
  await look(window.page, 'credits-new')
})

test('updates the balance immediately after a grant', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.reads('Available', '$10.00')
  await app.client.call(grantCredits, { to_address: ownerId, amount_cents: 4_000, note: 'For the month' })
  await credits.reads('Available', '$50.00')
  await credits.rows.filter({ hasText: 'For the month' }).waitFor()
})

test('the owner grants credits after a confirmation', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.reads('Available', '$50.00')
  await window.command('Grant credits…')
  const form = window.dialog('Grant credits')
  await form.getByRole('button', { name: 'Continue' }).click()
  await form.getByText('Enter a wallet address or an account ID.').waitFor()
  await form.getByText('Enter an amount.').waitFor()
  await form.getByRole('button', { name: 'Use my account' }).click()
  await form.getByLabel('Amount').fill('1.005')
  await form.getByRole('button', { name: 'Continue' }).click()
  await form.getByText('Enter dollars and cents, from 0.01 to 1000000.').waitFor()
  await form.getByLabel('Amount').fill('2.50')
  await form.getByLabel('Note').fill('By hand')
  await look(window.page, 'credits-grant', ['dark'])
  await form.getByRole('button', { name: 'Continue' }).click()
  const confirm = window.dialog('Grant $2.50?')
  await confirm.getByText(`${ownerId} (you)`).waitFor()
  expect((await app.client.call(getBalance, {})).balance_cents).toBe(5_000)
  await confirm.getByRole('button', { name: 'Grant $2.50' }).click()
  await toast(window.page, 'Granted $2.50')
  await credits.reads('Available', '$52.50')
})

test('a transfer to an unknown account shows an error and keeps the input', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.reads('Available', '$52.50')
  await credits.root.getByRole('button', { name: 'Give' }).click()
  await window.page.getByRole('menuitem', { name: 'Transfer credits…' }).click()
  const form = window.dialog('Transfer credits')
  await form.getByLabel('To').fill('acct_nobody')
  await form.getByLabel('Amount').fill('1')
  await form.getByRole('button', { name: 'Continue' }).click()
  const confirm = window.dialog('Transfer $1.00?')
  await confirm.getByRole('button', { name: 'Transfer $1.00' }).click()
  await confirm.getByText('No account of this service belongs to acct_nobody.').waitFor()
  await confirm.getByRole('button', { name: 'Back' }).click()
  expect(await form.getByLabel('To').inputValue()).toBe('acct_nobody')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await form.waitFor({ state: 'hidden' })
})

// Holds and balances persist, so each try uses a separate Steward.
test('the owner sets the balance, but not below the held amount', async () => {
  const app = await ownStewardInBrowser()
  onTestFinished(() => app.steward.close())
  const { id: accountId } = await app.client.call(getMe, {})
  await app.client.call(grantCredits, { to_address: accountId, amount_cents: 4_250 })
  seedHold(app.steward.dataFolder, { accountId, cents: 25 })
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.reads('Available', '$52.25')
  await credits.root.getByRole('button', { name: 'Adjust balance' }).click()
  const form = window.dialog('Adjust balance')
  await form.getByLabel('New balance').fill('0.10')
  await form.getByLabel('Reason').fill('A smaller limit')
  await form.getByRole('button', { name: 'Set balance' }).click()
  await form.getByRole('alert').or(form.getByText('Running requests hold $0.25')).first().waitFor()
  await form.getByLabel('New balance').fill('20')
  await form.getByText('Now $52.50, changes by −$32.50.').waitFor()
  await look(window.page, 'credits-adjust', ['dark'])
  await form.getByRole('button', { name: 'Set balance' }).click()
  await toast(window.page, 'Balance is now $20.00')
  await credits.reads('Balance', '$20.00')
  await credits.reads('Held', '$0.25')
  await credits.reads('Available', '$19.75')
  await credits.rows.filter({ hasText: 'A smaller limit' }).getByText('−$32.50').waitFor()
})

test('breaks spending down by day and model, sandbox and key', async () => {
  const charges = Array.from({ length: 90 }, (_, index) => ({
    cents: 1 + ((index * 7) % 23),
    model: models[Math.min(models.length - 1, Math.floor((index % 11) / 2))] ?? 'gpt-5.2',
    atMs: Date.now() - Math.floor(index / 3.2) * dayMs,
    details: {
      ...{ price_version: '2026-11-01', input_tokens: 1_200 + index, output_tokens: 340, cache_read_tokens: index * 9 },
      ...(index % 17 === 0 && { estimated: true }),
    },
  }))
  const limited = await app.client.call(createApiKey, { name: 'coding agent', daily_limit_cents: 500 })
  for (const [index, charge] of charges.toReversed().entries()) {
    const keyId = index % 4 === 0 ? limited.id : undefined
    seedCharge(app.steward.dataFolder, { accountId: ownerId, ...charge, ...(keyId && { keyId }) })
  }
  await app.sandbox('build-box')
  const window = await app.window()
  const { page } = window
  const credits = await openCredits(window)
  const spending = credits.part('Spending')
  await spending.getByText('claude-opus-4.6').first().waitFor()
  await credits
    .part('Running sandboxes')
    .getByRole('row', { name: /build-box \$0\.0069/ })
    .waitFor()
  await credits.part('Running sandboxes').getByText('Not charged on this computer').waitFor()
  await credits.part('API key limits').getByText('$0.00 of $5.00').waitFor()
  await look(page, 'credits')
  await look.inOtherSizes(page, 'credits')

  const chart = spending.getByRole('slider', { name: 'Spending by day' })
  await chart.focus()
  await page.keyboard.press('End')
  const today = await chart.getAttribute('aria-valuetext')
  expect(today).toMatch(/: \$0\.\d+, /)
  await page.keyboard.press('ArrowLeft')
  expect(await chart.getAttribute('aria-valuetext')).not.toBe(today)
  await look(page, 'credits-day')
  await spending.getByRole('button', { name: 'Table' }).click()
  expect(await spending.getByRole('columnheader', { name: 'claude-opus-4.6' }).count()).toBe(1)
  await look(page, 'credits-table', ['dark'])
  await spending.getByRole('button', { name: 'Chart' }).click()
  await spending.getByRole('button', { name: '12 months' }).click()
  await chart.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await credits.part('History').getByRole('textbox', { name: 'From' }).or(page.getByLabel('From')).first().waitFor()
  await until('the charges of today', async () => {
    const { total } = await app.client.call(listTransactions, {
      from: `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`,
    })
    return (await credits.listed()) === total
  })
})

test('filters charges by text and attributes and reports an empty result', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  const history = credits.part('History')
  await until('all of them', async () => (await credits.listed()) > 50)
  await credits.choose('Type', 'Grant')
  await credits.total(3)
  await credits.choose('Type', 'All types')
  await credits.choose('Model', 'claude-haiku-4.5')
  const only = async (query: object) => (await app.client.call(listTransactions, { ...query, limit: 100 })).total
  const haiku = await only({ model: 'claude-haiku-4.5' })
  await credits.total(haiku)
  await credits.choose('API key', 'coding agent')
  await until('less of them', async () => (await credits.listed()) < haiku)
  await history.getByRole('searchbox', { name: 'Search history' }).fill('nothing like it')
  await history.getByText('No matching transactions.').waitFor()
  await history.getByRole('button', { name: 'Clear filters' }).click()
  await until('all of them', async () => (await credits.listed()) > 50)
  await history.getByRole('searchbox', { name: 'Search history' }).fill('BY hand')
  await credits.total(1)
})

test('keeps the page small with ten thousand transactions and reaches each one', async () => {
  const app = await ownStewardInBrowser()
  onTestFinished(() => app.steward.close())
  const { id: accountId } = await app.client.call(getMe, {})
  await app.client.call(grantCredits, { to_address: accountId, amount_cents: 20_000, note: 'For many' })
  for (let planted = 0; planted < 10_000; planted += 1_000) {
    seedCharges(app.steward.dataFolder, 1_000, { accountId, cents: 1 })
  }
  const window = await app.window()
  const { page } = window
  const credits = await openCredits(window)
  await credits.total(10_002)
  const row = (index: number) => credits.part('History').locator(`li[aria-posinset="${index}"]`)
  const isBounded = async () => expect(await credits.rows.count()).toBeLessThan(100)
  const newest = row(1).getByRole('button')

  await newest.hover()
  for (let index = 100; index < 1_000; index += 100) {
    await until(`row ${index}`, async () => {
      await page.mouse.wheel(0, 600)
      return row(index).getByText('gpt-5.2').isVisible()
    })
    await isBounded()
  }
  // Visible rows do not move when a new one arrives.
  const inView = row(900)
  await inView.scrollIntoViewIfNeeded()
  const before = await inView.boundingBox()
  await app.client.call(grantCredits, { to_address: accountId, amount_cents: 100, note: 'Meanwhile' })
  await credits.total(10_003)
  expect(await row(901).boundingBox()).toEqual(before)

  await newest.focus()
  await newest.getByText('Meanwhile').waitFor()
  await page.keyboard.press('End')
  await row(10_003).getByText('First credits').waitFor()
  expect(
    await row(10_003)
      .getByRole('button')
      .evaluate((it) => it === document.activeElement),
  ).toBe(true)
  await isBounded()
  await page.keyboard.press('ArrowUp')
  await row(10_002).getByText('For many').waitFor()
  await look(page, 'credits-many', ['dark'])
  await page.keyboard.press('Enter')
  await row(10_002).getByText('Amount', { exact: true }).waitFor()
  await page.keyboard.press('Home')
  await newest.getByText('Meanwhile').waitFor()
  expect(await newest.evaluate((it) => it === document.activeElement)).toBe(true)
  await isBounded()
})

test('reports rows that fail to load and retries on request', async () => {
  const window = await app.window()
  const { page } = window
  const isSecondPage = ({ pathname, searchParams }: URL) =>
    pathname.endsWith('/credits/history') && searchParams.get('offset') === '50'
  await page.route(isSecondPage, (route) => route.abort())
  const credits = await openCredits(window)
  const history = credits.part('History')
  await credits.rows.first().getByRole('button').focus()
  await page.keyboard.press('End')
  const notice = history.getByRole('alert')
  await notice.waitFor()
  await credits.rows.last().getByText('Loading…').waitFor()
  await page.unroute(isSecondPage)
  await notice.getByRole('button', { name: 'Try again' }).click()
  await credits.rows.last().getByText('First credits').waitFor()
  expect(await notice.count()).toBe(0)
})

test('exports the filtered rows as CSV', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  await credits.choose('Type', 'Grant')
  await credits.total(3)
  const [download] = await Promise.all([
    window.page.waitForEvent('download'),
    credits.part('History').getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('steward-credits.csv')
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  expect(lines[0]).toMatch(/^created_at,type,description,amount_cents,/)
  expect(lines.slice(1).map((line) => line.split(',').slice(1, 4).join(' '))).toEqual([
    'grant By hand 250',
    'grant For the month 4000',
    'grant First credits 1000',
  ])
})

test('a charge shows its tokens and price, and the owner refunds it', async () => {
  seedCharge(app.steward.dataFolder, {
    ...{ accountId: ownerId, cents: 40, model: 'kimi-k2.5' },
    details: { price_version: '2026-11-01', input_tokens: 81_200, output_tokens: 1_340, estimated: true },
  })
  const before = (await app.client.call(getBalance, {})).balance_cents
  const window = await app.window()
  const credits = await openCredits(window)
  const row = credits.rows.first()
  await row.getByText('−$0.40').waitFor()
  await row.getByRole('button').first().click()
  await row.getByText('Input 81,200 · Output 1,340').waitFor()
  await row.getByText('The provider did not report all usage.').waitFor()
  await row.getByText('2026-11-01').waitFor()
  await look(window.page, 'credits-charge')
  await row.getByRole('button', { name: 'Refund…' }).click()
  const form = window.dialog('Refund this charge?')
  await form.getByLabel('Amount').fill('0.41')
  await form.getByRole('button', { name: 'Refund', exact: true }).click()
  await form.getByText('Enter whole cents, at most $0.40').waitFor()
  await form.getByLabel('Amount').fill('0.15')
  await form.getByLabel('Note').fill('Cut answer')
  await form.getByRole('button', { name: 'Refund', exact: true }).click()
  await toast(window.page, 'Refunded $0.15')
  await credits.rows.filter({ hasText: 'Cut answer' }).getByText('+$0.15').waitFor()
  expect((await app.client.call(getBalance, {})).balance_cents).toBe(before + 15)
  const charge = credits.rows.filter({ hasText: 'kimi-k2.5' }).filter({ hasText: 'Refunded' })
  await charge.first().waitFor()
})

test('the sandbox panel shows no price when nothing is charged', async () => {
  await app.sandbox('costly')
  const window = await app.window()
  await window.select('costly')
  const details = await openDetails(window)
  await details.root.getByText('This computer · Linux namespaces').waitFor()
  expect(await details.root.getByText('an hour').count()).toBe(0)
})
