import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApiKey } from '#shared/contract/accounts.ts'
import {
  askIntent,
  decideIntent,
  getIntent,
  type IntentInput,
  listGrants,
  listIntents,
  switchStop,
} from '#shared/contract/intents.ts'
import { getPayment } from '#shared/contract/localPayments.ts'
import { buyRegistration } from '#shared/contract/localPurchases.ts'
import { changePaymentBudgets, getPaymentBudgets } from '#shared/contract/paymentBudgets.ts'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { getWallet, lockWallet } from '#shared/contract/wallet.ts'
import { until } from '../support/assertions/eventually.ts'
import { createStewardClient, type StewardClient } from '../support/clients/stewardClient.ts'
import { changeConfirmed, importPrivateKey } from '../support/clients/walletForms.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** A program submits intents with an API key, and the user decides in the window. */
let app: StewardInBrowser
let program: StewardClient

const passphrase = 'orbit lantern velvet quarry mosaic'
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
  // Second account of the well-known test mnemonic of Hardhat and Anvil.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  await importPrivateKey(app.person, { key, passphrase })
  const created = await app.client.call(createApiKey, { name: 'research-agent' })
  program = createStewardClient(new URL(app.steward.url).origin, created.key)
})
afterAll(() => app?.close())

/** Opens a window without waiting intents, and asserts that none are waiting after the test. */
async function approvalsWindow(): Promise<AppWindow> {
  onTestFinished(async () => {
    const change = () => app.person.call(switchStop, { stopped: false })
    await changeConfirmed(app.person, { passphrase, change })
    const { intents } = await app.person.call(listIntents, { state: 'waiting' })
    for (const { id } of intents) await app.person.call(decideIntent, { intentId: id, approve: false })
  })
  return app.window()
}

function payment(path: string, amount = '500000'): IntentInput {
  return {
    kind: 'x402.authorize',
    network: 'base',
    pay_to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    amount,
    resource: `https://api.example.com/${path}`,
    description: 'One dataset, for a year',
  }
}

function signIn(site: string, part: { expiration_time?: string } = {}): IntentInput {
  return { kind: 'siwe', domain: site, uri: `https://${site}/`, nonce: 'k3Gq8sLm2Zx9', ...part }
}

const ask = (intent: IntentInput, reason?: string) =>
  program.call(askIntent, { intent, ...(reason !== undefined && { reason }) })
const waitForIntent = (id: string) => program.call(getIntent, { intentId: id, wait_ms: 30_000 })

test('announces a waiting request everywhere, and no single key press approves it', async () => {
  const window = await approvalsWindow()
  const { page } = window
  const screen = approvalsScreen(page)
  const { id, sentence, state } = await ask(payment('datasets/2'), 'The second chapter needs it.')
  expect(state).toBe('waiting')

  await page.getByRole('button', { name: 'Approvals: 1 needs you' }).waitFor()
  await until('the title counts', async () => (await page.title()) === '(1) Steward')
  const toast = page.locator('[data-sonner-toast]', { hasText: 'research-agent asks for your approval' })
  await toast.getByRole('button', { name: 'Review' }).waitFor()
  expect((await toast.getByRole('button').allTextContents()).filter(Boolean)).toEqual(['Review'])
  expect(await toast.getByRole('button', { name: 'Close' }).count()).toBe(1)
  await look(page, 'approval-asked')
  await toast.getByRole('button', { name: 'Review' }).click()

  await screen.shows(sentence)
  await screen.request.getByText('“The second chapter needs it.”').waitFor()
  await screen.request.getByText('Reason given (unverified)').waitFor()
  await screen.isArmed()
  await look(page, 'approval')
  await screen.request.getByRole('heading').first().focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('a')
  await until('the button has the focus', () =>
    screen.button('Approve once').evaluate((element) => element === element.ownerDocument.activeElement),
  )
  expect((await program.call(getIntent, { intentId: id })).state).toBe('waiting')
  await page.keyboard.press('Enter')

  await screen.became('Signed')
  await screen.request.getByText('You', { exact: true }).waitFor()
  const signed = await waitForIntent(id)
  expect(signed).toMatchObject({ state: 'signed', result: { authorization: { value: '500000' } } })
  await look(page, 'approval-signed')
  await until('the title counts no more', async () => (await page.title()) === 'Steward')
  await screen.request.getByRole('link', { name: 'Show in Activity' }).click()
  await page.getByRole('main').getByRole('article').filter({ hasText: 'Signed' }).first().waitFor()
  await page.getByText('Only entries for this request:').waitFor()
})

test('marks a second request for a domain and ends it after the first purchase', async () => {
  const window = await approvalsWindow()
  const { page } = window
  const { keyrings } = await app.person.call(getWallet, {})
  const address = keyrings[0]?.accounts[0]?.address ?? ''
  await app.client.call(giveTestMoney, { address })
  const order = { domain: 'seamrace.xyz', wait_ms: 0 }
  const ownOrder = await app.person.call(buyRegistration, order)
  const theirs = await program.call(buyRegistration, { ...order, price_usd: 1.95 })
  expect([ownOrder.payment?.state, theirs.payment?.state]).toEqual(['waiting', 'waiting'])
  await page.getByRole('button', { name: 'Approvals: 2 need you' }).click()
  const inbox = page.getByRole('region', { name: 'Requests' })
  await inbox.getByText('research-agent also asks to register seamrace.xyz. One approval is enough.').waitFor()
  await inbox.getByText('You also ask to register seamrace.xyz. One approval is enough.').click()
  const screen = approvalsScreen(page)
  await screen.request.getByText('You also ask to register seamrace.xyz.').waitFor()
  await screen.isArmed()
  await look(page, 'approval-same-purchase')
  await app.person.call(decideIntent, { intentId: ownOrder.payment?.intent_id ?? '', approve: true })
  await screen.became('Denied')
  await screen.request.getByText('Another request to register seamrace.xyz was paid.').first().waitFor()
  const ended = await program.call(getPayment, { paymentId: theirs.payment?.id ?? '', wait_ms: 20_000 })
  expect(ended).toMatchObject({ state: 'refused', paid: false })
})

test('a lowered limit blocks the approval with a reason until it is raised', async () => {
  const { page } = await approvalsWindow()
  const screen = approvalsScreen(page)
  const { limits } = await app.person.call(getPaymentBudgets, {})
  const { id, sentence } = await ask(payment('datasets/blocked'))
  const toast = page.locator('[data-sonner-toast]', { hasText: 'research-agent asks for your approval' })
  await toast.getByRole('button', { name: 'Review' }).click()
  await screen.shows(sentence)
  await screen.isArmed()
  await app.person.call(changePaymentBudgets, { ...limits, payment_micro_usd: 100_000, day_micro_usd: 20_000_000 })
  const left = screen.request.getByText(/^Remaining before this payment: \$\d+\.\d\d in any 24 hours/)
  await left.waitFor()
  await look(page, 'approval-limits')
  const reason = 'You can’t approve this now. The payment is above your limit of $0.10 per payment.'
  await screen.request.getByText(reason).waitFor()
  expect(await screen.button('Approve once').isEnabled()).toBe(false)
  expect(await screen.button('Deny').isEnabled()).toBe(true)
  await expect(app.person.call(decideIntent, { intentId: id, approve: true })).rejects.toThrow('above your limit')
  const raise = () => app.person.call(changePaymentBudgets, limits)
  await changeConfirmed(app.person, { passphrase, change: raise })
  await screen.request.getByText(reason).waitFor({ state: 'detached' })
  await left.waitFor({ state: 'detached' })
  await screen.isArmed()
})

test('approves three similar requests and no more', async () => {
  const window = await approvalsWindow()
  const screen = approvalsScreen(window.page)
  const first = await ask(payment('ping/1'))
  await screen.open()
  await screen.shows(first.sentence)
  await screen.button('Approve and remember…').click()
  const dialog = window.dialog('Approve and remember?')
  await dialog.getByRole('spinbutton').fill('3')
  await dialog.getByLabel('Until').uncheck()
  await dialog.getByText(/ for \S*ping\/1 only, this time and 2 more/).waitFor()
  await look(window.page, 'approval-more-path')
  await dialog.getByRole('button', { name: /^For Only/ }).click()
  await window.page.getByRole('menuitemradio', { name: 'Anything api.example.com sells' }).click()
  await dialog
    .getByText(
      /research-agent may spend up to \$1\.50 \(3 × \$0\.50\) at api\.example\.com to 0x2096…287c on Base with 0x7099…79C8 for anything it sells, this time and 2 more/,
    )
    .waitFor()
  await look(window.page, 'approval-more')
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await screen.became('Signed')
  expect((await waitForIntent(first.id)).state).toBe('signed')

  expect(await ask(payment('ping/2'))).toMatchObject({ state: 'signed', decision: { by: 'grant' } })
  expect((await ask(payment('ping/3', '400000'))).state).toBe('signed')
  const fourth = await ask(payment('ping/4'))
  expect(fourth.state).toBe('waiting')
  expect((await app.person.call(listGrants, {})).grants).toEqual([])
  await screen.row(/ping\/4/).click()
  await screen.shows(fourth.sentence)
  await screen.deny()
  await screen.became('Denied')
  expect(await waitForIntent(fourth.id)).toMatchObject({ state: 'denied', result: null })
})

test('keeps rows in place under the pointer and expires undecided requests', async () => {
  const window = await approvalsWindow()
  const screen = approvalsScreen(window.page)
  const patient = await ask(signIn('one.example.org'))
  await screen.open()
  await screen.shows(patient.sentence)
  await screen.row(/one\.example\.org/).hover()
  const hasty = await ask(signIn('two.example.org', { expiration_time: new Date(Date.now() + 8000).toISOString() }))
  await window.page.getByRole('button', { name: 'Show 1 new' }).waitFor()
  expect(await screen.row(/two\.example\.org/).count()).toBe(0)
  await screen.shows(patient.sentence)
  await window.page.getByRole('button', { name: 'Show 1 new' }).click()
  await screen.row(/two\.example\.org/).click()
  await screen.became('Expired')
  expect(await waitForIntent(hasty.id)).toMatchObject({ state: 'expired', result: null })
})

test('the stop switch refuses every request until the user resumes', async () => {
  const window = await approvalsWindow()
  const { page } = window
  const screen = approvalsScreen(page)
  const waiting = await ask(signIn('stopped.example.org'))
  await screen.open()
  await screen.shows(waiting.sentence)
  await page.getByRole('button', { name: 'Stop everything' }).click()
  await window.dialog('Stop everything?').getByRole('button', { name: 'Stop everything' }).click()
  const banner = page.getByRole('status').filter({ hasText: 'Everything is stopped.' })
  await banner.waitFor()
  await screen.became('Denied')
  expect(await waitForIntent(waiting.id)).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
  expect(await ask(signIn('later.example.org'))).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
  await look(page, 'approvals-stopped')

  await page.reload()
  await banner.getByRole('button', { name: 'Resume…' }).click()
  await window.dialog('Resume?').getByRole('button', { name: 'Resume' }).click()
  await securePromptPage(page).give(passphrase, 'Confirm')
  await banner.waitFor({ state: 'detached' })
  expect((await ask(signIn('again.example.org'))).state).toBe('waiting')

  await window.command('Stop everything')
  await window.dialog('Stop everything?').getByRole('button', { name: 'Stop everything' }).click()
  await banner.waitFor()
})

test('unlocking a locked wallet leaves the decision to the user', async () => {
  const window = await approvalsWindow()
  const screen = approvalsScreen(window.page)
  await app.person.call(lockWallet, {})
  const intent = await ask(signIn('locked.example.org'))
  await screen.open()
  await screen.shows(intent.sentence)
  await screen.button('Unlock wallet…').click()
  await securePromptPage(window.page).give(passphrase, 'Unlock')
  await screen.isArmed()
  expect((await program.call(getIntent, { intentId: intent.id })).state).toBe('waiting')
  await screen.approveOnce()
  await screen.became('Signed')
  expect((await waitForIntent(intent.id)).result?.message).toContain('locked.example.org wants you to sign in')
})

test('asks for the passphrase in the secure prompt above the threshold', async () => {
  const window = await approvalsWindow()
  const screen = approvalsScreen(window.page)
  const intent = await ask(payment('warehouse', '25000000'))
  expect(intent.needs_confirmation).toBe(true)
  await screen.open()
  await screen.shows(intent.sentence)
  expect(await screen.button('Approve and remember…').count()).toBe(0)
  await screen.button('Approve once…').click()
  await securePromptPage(window.page).give(passphrase, 'Approve')
  await screen.became('Signed')
  expect(await waitForIntent(intent.id)).toMatchObject({ state: 'signed', decision: { by: 'person' } })
})
