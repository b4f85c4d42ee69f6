import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe, unlinkWallet } from '#shared/contract/auth.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { exchange } from '../support/processes/runningService.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Wallets that sign in to the account: linked and unlinked in Settings, and unlinked when they are removed. */
let app: StewardInBrowser
const look = pictures()
const passphrase = 'copper meadow thistle anchor lagoon'
const wallet = evmWallet()

beforeAll(async () => {
  app = await ownStewardInBrowser()
  await importPrivateKey(app.person, { key: wallet.privateKey.slice(2), passphrase })
})
afterAll(() => app?.close())

const listLinked = async () => (await app.client.call(getMe, {})).wallets.map((it) => it.wallet_address)

test('a wallet stays unlinked after a confirmation until it is linked again', async () => {
  await eventually(async () => expect(await listLinked()).toEqual([wallet.address]))
  const window = await app.window()
  const { page } = window
  const settings = settingsScreen(page)
  const section = (await settings.open('Account')).getByRole('region', { name: 'Linked wallets' })
  await section.getByText(/linked by Steward/).waitFor()
  await look(page, 'settings-account')
  await section.getByRole('button', { name: `Unlink ${wallet.address}` }).click()
  const dialog = window.dialog('Unlink wallet?')
  await dialog.getByText(/can no longer sign in to this account/).waitFor()
  await look(page, 'settings-account-unlink', ['dark'])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await listLinked()).toEqual([wallet.address])
  await section.getByRole('button', { name: `Unlink ${wallet.address}` }).click()
  await dialog.getByRole('button', { name: 'Unlink wallet' }).click()
  await section.getByText(/not linked/).waitFor()
  expect(await listLinked()).toEqual([])

  await page.getByRole('button', { name: 'Wallet unlocked' }).click()
  const prompt = securePromptPage(page)
  await section.getByRole('button', { name: `Link ${wallet.address}` }).click()
  await prompt.step('Unlock the wallet')
  expect(await listLinked()).toEqual([])
  await prompt.give(passphrase, 'Unlock')
  await section.getByText(/linked by Steward/).waitFor()
  expect(await listLinked()).toEqual([wallet.address])
})

test('shows which wallet linked another, including before that wallet is unlinked', async () => {
  const { serviceUrl } = app.steward
  const second = evmWallet()
  const { json: tokens } = await wallet.signIn(serviceUrl)
  const body = await second.signedMessage(serviceUrl)
  const linking = await exchange(serviceUrl, '/v1/auth/wallets', { key: tokens.access_token, body })
  expect([linking.status, linking.json.linked_by]).toEqual([201, wallet.address])
  const window = await app.window()
  const settings = settingsScreen(window.page)
  const section = (await settings.open('Account')).getByRole('region', { name: 'Linked wallets' })
  await section.getByText(`linked by ${shortenAddress(wallet.address)}`).waitFor()
  await section.getByRole('button', { name: `Unlink ${wallet.address}` }).click()
  const dialog = window.dialog('Unlink wallet?')
  await dialog.getByText('A wallet that it linked stays linked:').waitFor()
  await dialog.getByText(second.address, { exact: true }).waitFor()
  await look(window.page, 'settings-account-linked-by', ['dark'])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await app.client.call(unlinkWallet, { address: second.address })
})

test('the removal prompt warns that the key no longer signs in and unlinks it', async () => {
  const window = await app.window()
  const { page } = window
  await page.getByRole('button', { name: 'Wallet', exact: true }).click()
  const card = page.getByRole('region', { name: 'Key 1' })
  await card
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  const prompt = securePromptPage(page)
  await prompt.step('Remove “Key 1”')
  await prompt.frame.getByText(/Removing it also ends that: Steward unlinks/).waitFor()
  await look(page, 'wallet-remove', ['dark'])
  await prompt.fill('Type “Key 1” to confirm', 'Key 1')
  await prompt.give(passphrase, 'Remove the private key')
  await eventually(async () => expect(await listLinked()).toEqual([]))
  const signedIn = await wallet.signIn(app.steward.serviceUrl)
  expect(signedIn.json.access_token).toBeUndefined()
})
