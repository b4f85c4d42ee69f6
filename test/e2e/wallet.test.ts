import { readFile } from 'node:fs/promises'
import { Wallet as EthersWallet, encryptKeystoreJsonSync } from 'ethers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getWallet, type Wallet } from '#shared/contract/wallet.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'
import { createWallet, unlockWallet, walletPrompt } from './pages/walletPrompt.ts'
import { callInPage } from './pages/windowCalls.ts'

/** One wallet for all tests. Each test continues from the previous one. */
const passphrase = 'violet anchor seldom pretzel orbit'
const imported = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const importedAddress = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'
const filePassword = 'walnut ember quartz'

let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
})
afterAll(() => app?.close())

async function walletWindow(): Promise<Page> {
  const { page } = await app.window()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Wallet' }).click()
  return page
}

/** Wallet as the window reads it. */
const readWallet = (page: Page): Promise<Wallet> => callInPage(page, getWallet, {})

test('creates a wallet only after the user confirms the recovery phrase', async () => {
  const page = await walletWindow()
  const prompt = walletPrompt(page)
  await page.getByRole('heading', { name: 'Create your wallet' }).waitFor()
  await look(page, 'wallet-absent')

  await page.emulateMedia({ colorScheme: 'dark' }) // a secure prompt stays in the theme in which it was opened
  await page.getByRole('button', { name: 'Create a wallet' }).click()
  await prompt.step('New recovery phrase')
  await look(page, 'wallet-create', ['dark'])
  await prompt.fill('New wallet passphrase', 'password2024')
  await prompt.fill('Confirm passphrase', 'password2025')
  await prompt.press('Continue')
  expect(await prompt.problem()).toContain("The passphrases don't match.")
  await prompt.fill('New wallet passphrase', 'password2024')
  await prompt.fill('Confirm passphrase', 'password2024')
  await prompt.press('Continue')
  await prompt.step('This passphrase is weak')
  await prompt.press('Choose another')
  await prompt.fill('New wallet passphrase', passphrase)
  await prompt.fill('Confirm passphrase', passphrase)
  await prompt.press('Continue')

  await prompt.step('Write these words down')
  const phrase = await prompt.words()
  expect(phrase).toHaveLength(12)
  await look(page, 'wallet-words', ['dark'])
  await prompt.press('I wrote them down')
  await prompt.step('Check your copy')
  const indexes = await prompt.readRequestedPlaces()
  for (const index of indexes) await prompt.fill(`Word ${index}`, 'wrong')
  await prompt.press('Check')
  expect(await prompt.problem()).toContain(`That is not word ${indexes[0]}.`)
  for (const index of indexes) {
    expect(await prompt.frame.getByLabel(`Word ${index}`, { exact: true }).inputValue()).toBe('')
  }
  await prompt.press('Show words again')
  await prompt.step('Write these words down')
  expect(await prompt.words()).toEqual(phrase)

  await page.keyboard.press('Escape')
  await prompt.waitUntilClosed()
  expect((await readWallet(page)).state).toBe('absent')

  expect(await createWallet(page, passphrase)).toHaveLength(12)
  await page.getByRole('heading', { name: 'Phrase 1' }).waitFor()
  expect(await readWallet(page)).toMatchObject({ state: 'unlocked', keyrings: [{ words: 12, written_down: true }] })
})

test('the window cannot read a secure prompt that shows a phrase', async () => {
  const page = await walletWindow()
  const prompt = walletPrompt(page)
  await page.getByRole('button', { name: 'Actions for Phrase 1' }).click()
  await page.getByRole('menuitem', { name: 'Show the words…' }).click()
  await prompt.step(/^Show recovery phrase/)
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Show words')
  await prompt.step(/^Recovery phrase/)
  const [word = ''] = await prompt.words()
  const globals = await page.evaluate(() => {
    const frame = document.querySelector('iframe')
    const attempt = (read: () => unknown) => {
      try {
        return String(read())
      } catch (error) {
        return error instanceof Error ? error.name : ''
      }
    }
    return {
      document: attempt(() => frame?.contentDocument),
      inside: attempt(() => frame?.contentWindow?.document.body.textContent),
      page: document.documentElement.outerHTML,
    }
  })
  expect(globals).toMatchObject({ document: 'null', inside: 'SecurityError' })
  expect(globals.page).not.toContain(`>${word}<`)
  await prompt.press('Done')
  await prompt.waitUntilClosed()
})

test('locks the wallet from the status bar and unlocks it only with the passphrase', async () => {
  const page = await walletWindow()
  const prompt = walletPrompt(page)
  await page.getByRole('button', { name: 'Wallet unlocked' }).click()
  const unlock = page.getByRole('button', { name: 'Wallet locked' })
  await unlock.waitFor()
  await unlock.click()
  await prompt.step('Unlock the wallet')
  await prompt.fill('Wallet passphrase', 'not the passphrase')
  await page.keyboard.press('Enter')
  expect(await prompt.problem()).toContain('passphrase')
  expect(await prompt.frame.getByLabel('Wallet passphrase', { exact: true }).inputValue()).toBe('')
  await look(page, 'wallet-unlock', ['dark'])
  await page.keyboard.press('Escape')
  await prompt.waitUntilClosed()
  expect((await readWallet(page)).state).toBe('locked')
  await unlock.click()
  await unlockWallet(page, passphrase)
  await page.getByRole('button', { name: 'Wallet unlocked' }).waitFor()
})

test('imports a keystore, exports one that ethers opens and removes the key', async () => {
  const page = await walletWindow()
  const prompt = walletPrompt(page)
  const account = { address: importedAddress, privateKey: imported }
  const keystore = encryptKeystoreJsonSync(account, filePassword, { scrypt: { N: 4096, r: 8, p: 1 } })
  await page.getByRole('button', { name: 'Add to the wallet' }).click()
  await page.getByRole('menuitem', { name: 'Import a phrase or key…' }).click()
  await prompt.step('Import a phrase or key')
  await prompt.press('Keystore file')
  await prompt.frame.getByLabel('Keystore V3 file').setInputFiles({
    name: 'key.json',
    mimeType: 'application/json',
    buffer: Buffer.from(keystore),
  })
  await prompt.fill('File password', filePassword)
  await prompt.fill('Label (optional)', 'From <b>elsewhere</b>')
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Import')
  await prompt.waitUntilClosed()
  const card = page.getByRole('region', { name: 'From <b>elsewhere</b>' })
  await card
    .getByRole('button', { name: /^Show details of/ })
    .first()
    .click()
  await card.getByText(importedAddress, { exact: true }).waitFor()
  await look(page, 'wallet')

  await card.getByRole('button', { name: /^Deposit to/ }).click()
  await page.getByRole('img', { name: `QR code of the address ${importedAddress}` }).waitFor()
  await page
    .getByText(`ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=${importedAddress}`)
    .waitFor()
  await look(page, 'wallet-deposit')
  await page.keyboard.press('Escape')

  const solana = (await readWallet(page)).keyrings
    .flatMap(({ accounts }) => accounts)
    .find((it) => it.chain_type === 'solana')
  await page.getByRole('button', { name: `Deposit to ${solana?.label}`, exact: true }).click()
  await page.getByText(`solana:${solana?.address}?spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`).waitFor()
  await page.keyboard.press('Escape')

  await card
    .getByRole('button', { name: /^Actions for/ })
    .nth(1)
    .click()
  await page.getByRole('menuitem', { name: 'Export as a keystore…' }).click()
  await prompt.step(/^Export/)
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.fill('New file password', filePassword)
  await prompt.fill('Confirm password', filePassword)
  await prompt.press('Create file')
  await prompt.step('Your file is ready')
  const downloading = page.waitForEvent('download')
  await prompt.press('Download')
  const written = await readFile(await (await downloading).path(), 'utf8')
  expect((await EthersWallet.fromEncryptedJson(written, filePassword)).address).toBe(importedAddress)
  await prompt.press('Done')
  await prompt.waitUntilClosed()

  await card
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await prompt.step(/^Remove/)
  await prompt.fill('Type “From <b>elsewhere</b>” to confirm', 'Something else')
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Remove the private key')
  expect(await prompt.problem()).toContain('label')
  await prompt.fill('Type “From <b>elsewhere</b>” to confirm', 'From <b>elsewhere</b>')
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Remove the private key')
  await prompt.waitUntilClosed()
  await card.waitFor({ state: 'hidden' })
})

test('accounts are added and named, and commands copy their addresses', async () => {
  const { page, command } = await app.window()
  await command('Go to Wallet')
  const card = page.getByRole('region', { name: 'Phrase 1' })
  await card.getByRole('button', { name: 'Actions for Phrase 1' }).click()
  await page.getByRole('menuitem', { name: 'Add an EVM account' }).click()
  await card.getByRole('button', { name: 'Rename Account 2' }).click()
  await card.getByLabel('Name of Account 2').fill('Savings')
  await page.keyboard.press('Enter')
  const row = card.getByRole('listitem', { name: 'Savings' })
  await row.waitFor()
  await command('Copy address of Savings')
  const { keyrings } = await readWallet(page)
  const savings = keyrings[0]?.accounts.find(({ label }) => label === 'Savings')?.address
  await eventually(async () => expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(savings))
})
