import { afterAll, beforeAll, expect, test } from 'vitest'
import { decideAccountRequest, listAccountRequests } from '#shared/contract/accountRequests.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { evmWallet, solanaWallet } from '../support/clients/wallets.ts'
import { exchange } from '../support/processes/runningService.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Programs with their own wallets request an account, and the user decides in the window. */
let app: StewardInBrowser
let origin: string
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
  origin = new URL(app.steward.url).origin
})
afterAll(() => app?.close())

test('a new wallet waits in the inbox and receives an API key after approval', async () => {
  const { page } = await app.window()
  const wallet = evmWallet()
  const name = shortenAddress(wallet.address)
  expect(await wallet.signIn(origin)).toMatchObject({ status: 403, json: { code: 'auth/account-requested' } })

  const toast = page.locator('[data-sonner-toast]', { hasText: `${name} asks for an account` })
  await toast.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Approvals: 1 needs you' }).waitFor()
  const card = page.getByRole('list', { name: 'Wallets requesting an account' }).getByRole('listitem')
  for (const text of [`${name} asks for an account`, wallet.address, 'Ethereum']) {
    expect(await card.textContent()).toContain(text)
  }
  await look(page, 'approvals-account')
  await card.getByRole('button', { name: `Allow ${name}` }).click()
  await card.waitFor({ state: 'detached' })

  const { status, json } = await wallet.signIn(origin)
  expect(status).toBe(200)
  const key = await exchange(origin, '/v1/auth/api-keys', { key: json.access_token, body: { name: 'agent' } })
  expect(key.status).toBe(201)
  expect((await exchange(origin, '/v1/sandboxes', { key: key.json.key })).json.count).toBe(0)
})

test('remembers a denied wallet and allows it later', async () => {
  const { page } = await app.window()
  const wallet = solanaWallet()
  const name = shortenAddress(wallet.address)
  await wallet.signIn(origin)
  await approvalsScreen(page).open()
  await page.getByRole('button', { name: `Deny ${name}` }).click()
  const denied = page.getByText('Denied wallets (1)')
  await denied.waitFor()
  expect(await wallet.signIn(origin)).toMatchObject({ status: 403, json: { code: 'auth/account-denied' } })
  await denied.click()
  await page.getByRole('button', { name: `Allow ${name}` }).click()
  await denied.waitFor({ state: 'detached' })
  expect((await wallet.signIn(origin)).status).toBe(200)
})

test('the owner’s key cannot allow a wallet on the window or service origin', async () => {
  const wallet = evmWallet()
  await wallet.signIn(origin)
  const { requests } = await app.client.call(listAccountRequests, {})
  const id = requests.find((it) => it.wallet_address === wallet.address)?.id ?? ''
  for (const url of [origin, app.steward.serviceUrl]) {
    const path = `/v1/auth/account-requests/${id}`
    const answer = await exchange(url, path, { key: app.steward.ownerKey, body: { allow: true } })
    expect(answer).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
  }
  // no request is still waiting
  expect((await app.person.call(decideAccountRequest, { id, allow: true })).state).toBe('allowed')
})
