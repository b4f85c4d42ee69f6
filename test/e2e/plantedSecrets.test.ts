import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { encryptKeystoreJson, HDNodeWallet, Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { askIntent, decideIntent } from '#shared/contract/intents.ts'
import {
  type Planted,
  plantBytes,
  plantPhrase,
  plantText,
  readFiles,
  searchFor,
} from '../support/assertions/canarySecrets.ts'
import { inMemory, isMemoryReadable } from '../support/assertions/processMemory.ts'
import { createTextSearch } from '../support/assertions/textSearch.ts'
import { createWindowTraffic } from '../support/assertions/windowTraffic.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import type { Steward } from '../support/processes/steward.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { type StewardInBrowser, stewardInOwnBrowser } from './pages/stewardInBrowser.ts'
import { callInPage } from './pages/windowCalls.ts'

/** Unique secrets are entered into the real secure prompts. Then everything that was written is searched for them. */
const phrase = 'tribe aunt rigid true lazy recipe quality orient hunt ostrich either middle'
/** Common prefix of the typed secrets, so that one search finds them all. */
const typed = 'p1anted-5ecret'
const passphrase = `${typed} "passphräse" & <seven> geese`
const wrongPassphrase = `${typed} with a typo, eight swans`
const keystorePassword = `${typed} of a keystore, nine herons`
const exportPassword = `${typed} of an export, ten larks`
const wrongPrivateKey = `${typed}-no-private-key`
const providerKey = `${typed}-of-a-provider-0123`
const privateKey = 'b1a5ed00c0ffee5eed0000decafbad0123456789abcdef00fedcba9876543210'
const keystoreKey = 'd00dfeed5eedb0b0cafe0000f00dbabe0123456789abcdef00fedcba98765432'

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const neverDisplayed: readonly Planted[] = [
  plantText('a typed secret', typed),
  plantBytes('the private key', bytes(privateKey)),
  plantBytes('the key of the keystore', bytes(keystoreKey)),
  plantBytes('the first key of the phrase', bytes(HDNodeWallet.fromPhrase(phrase).privateKey.slice(2))),
]
const secrets: readonly Planted[] = [...neverDisplayed, ...plantPhrase('the phrase', phrase)]
const rpc = plantText('the key of the RPC', 'planted-rpc-key-5eedb0b0cafe')
/** Planted into the window in two parts, so that only the window's process contains the whole string. */
const mark = `window-${randomUUID()}`

/** Observation of one process: whether it is the window's, and the plain secrets in its memory. */
type Observation = { isWindow: boolean; secrets: string[] }
const plain = secrets.flatMap(({ name, forms }) =>
  forms.filter(({ as }) => ['text', 'bytes', 'UTF-16'].includes(as)).map(({ bytes }) => ({ name, bytes })),
)
const searchMemory = createTextSearch([...plain.map((it) => it.bytes), Buffer.from(mark)])

const search = searchFor(secrets)

let app: StewardInBrowser<Steward> | undefined
/** Not set if process memory cannot be read. */
let whileEntered: Observation[] | undefined
let atTheEnd: Observation[] | undefined

async function openSteward(): Promise<StewardInBrowser<Steward>> {
  const url = `${await deadAddress()}/v2/planted-rpc-key-5eedb0b0cafe`
  const wallet = { secret_store: 'vault_file', rpc: { base: url, base_sepolia: url } }
  // The check of the provider key must not reach a real server.
  const inference = { families: { a: { base_url: `${await deadAddress()}/v1` } } }
  return stewardInOwnBrowser({ config: { wallet, inference, log: { level: 'debug' } } })
}
afterAll(() => app?.close())

test('the search finds a secret in each encoding and location', () => {
  const folder = temporaryFolder()
  const text = 'söme "text" of a secret'
  const json = JSON.stringify(text)
  const forms = [
    ...[json, JSON.stringify(json), 's\\u00f6me \\"text\\" of a secret', 'söme &quot;text&quot; of a secret'],
    ...['s%C3%B6me%20%22text%22%20of%20a%20secret', 's%C3%B6me+%22text%22+of+a+secret'],
    ...(['hex', 'base64', 'base64url'] as const).flatMap((as) =>
      ['', 'a', 'ab', 'abc'].map((value) => Buffer.from(`${value}${text}, and more`).toString(as)),
    ),
    ...[privateKey, privateKey.toUpperCase(), `0x${privateKey}`, [...bytes(privateKey)].join(',')],
    Buffer.from(text, 'utf16le'),
    bytes(privateKey),
    phrase.replaceAll(' ', '\n'),
  ]
  for (const [index, form] of forms.entries()) {
    writeFileSync(join(folder, `${index}`), Buffer.concat([Buffer.from('x'.repeat(index)), Buffer.from(form)]))
  }
  writeFileSync(join(folder, 'none'), `söme other "text", ${privateKey.slice(1)}`)
  const find = searchFor([plantText('it', text), ...secrets])
  const without = readFiles(folder).filter((it) => find(it).length === 0)
  expect(without.map(({ where }) => where)).toEqual(['none'])
})

// A failed attempt leaves a wallet behind, so each attempt has its own Steward and browser.
test('secrets entered in secure prompts appear nowhere else', { timeout: 150_000 }, async () => {
  await app?.close()
  app = await openSteward()
  const window = await app.window()
  const traffic = createWindowTraffic(window.page)
  await window.reload() // so that its sockets are recorded from the first message
  await window.page.evaluate(`globalThis.mark = '${mark.slice(0, 8)}' + '${mark.slice(8)}'`)

  await importPhrase(window)
  await importKeys(window)
  await lockAndUnlock(window)
  await viewPhrase(window)
  await exportAKey(window)
  await signText(window.page)
  await giveProviderKey(window)
  await window.command('Lock wallet')

  const heap = await readHeap(window.page)
  expect(heap.includes(mark)).toBe(true)
  expect(search({ where: 'the heap of the window', bytes: heap })).toEqual([])
  atTheEnd = await processes()

  const prompts = await traffic.prompts()
  expect(prompts.length).toBeGreaterThan(10)
  expect(prompts.flatMap(searchFor(neverDisplayed))).toEqual([])
  const { dataFolder } = app.steward
  const written = [...(await traffic.everything()), ...readFiles(dataFolder, /-wal$/)]
  await app.steward.close()
  const output = { where: 'the output', bytes: Buffer.from(app.steward.output()) }
  written.push(...readFiles(dataFolder), output)
  for (const file of [
    'logs/main.log',
    'agent.sqlite',
    'agent.sqlite-wal',
    'service.sqlite',
    'wallet/vault.json',
    'providers/vault.json',
    'activity.head',
  ]) {
    expect(written.find(({ where }) => where === file)?.bytes.length, file).toBeGreaterThan(0)
  }
  expect(output.bytes.includes('"event":"ready"')).toBe(true)
  expect(written.flatMap(searchFor([plantText('the label', 'Planted wallet')]))).toContain(
    'the label as text in agent.sqlite',
  )
  expect(written.flatMap(search)).toEqual([])
  expect(written.filter(({ where }) => where !== 'config.json').flatMap(searchFor([rpc]))).toEqual([])
})

test('the memory of the window process contains no secrets', (context) => {
  if (!whileEntered || !atTheEnd) return context.skip('the memory of a browser cannot be read here: only its heap was')
  const holders = whileEntered.filter((it) => it.secrets.includes('the phrase'))
  expect(holders.map(({ isWindow }) => isWindow)).toEqual([false])
  for (const observation of [whileEntered, atTheEnd]) {
    expect(observation.filter(({ isWindow }) => isWindow)).toEqual([{ isWindow: true, secrets: [] }])
  }
})

async function importPhrase(window: AppWindow): Promise<void> {
  await window.command('Import a phrase or key…')
  const prompt = securePromptPage(window.page)
  await prompt.fill('Recovery phrase', phrase)
  whileEntered = await processes()
  await prompt.fill('Label (optional)', 'Planted wallet')
  await prompt.fill('New wallet passphrase', passphrase)
  await prompt.fill('Confirm passphrase', passphrase)
  await prompt.press('Import')
  await prompt.waitUntilClosed()
}

/** The first entry of one key is mistyped. */
async function importKeys(window: AppWindow): Promise<void> {
  const prompt = securePromptPage(window.page)
  await window.command('Import a phrase or key…')
  await prompt.press('Private key')
  for (const key of [wrongPrivateKey, privateKey]) {
    await prompt.fill('Private key', key)
    await prompt.fill('Wallet passphrase', passphrase)
    await prompt.press('Import')
    if (key === wrongPrivateKey) await prompt.frame.getByRole('alert').waitFor()
  }
  await prompt.waitUntilClosed()

  const { address, privateKey: storedKey } = new Wallet(`0x${keystoreKey}`)
  const file = await encryptKeystoreJson({ address, privateKey: storedKey }, keystorePassword, {
    scrypt: { N: 1024, r: 8, p: 1 },
  })
  await window.command('Import a phrase or key…')
  await prompt.press('Keystore file')
  await prompt.fill('Or paste its contents', file)
  await prompt.fill('File password', keystorePassword)
  await prompt.give(passphrase, 'Import')
}

async function lockAndUnlock(window: AppWindow): Promise<void> {
  const prompt = securePromptPage(window.page)
  await window.command('Lock wallet')
  await window.command('Unlock wallet…')
  await prompt.fill('Wallet passphrase', wrongPassphrase)
  await prompt.press('Unlock')
  await prompt.frame.getByRole('alert').waitFor()
  await prompt.give(passphrase, 'Unlock')
}

async function viewPhrase({ page }: AppWindow): Promise<void> {
  const prompt = securePromptPage(page)
  await page.getByRole('button', { name: 'Actions for Planted wallet' }).click()
  await page.getByRole('menuitem', { name: 'Show the words…' }).click()
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.press('Show words')
  await prompt.step(/^Recovery phrase/)
  await prompt.frame.getByText('ostrich').waitFor()
  await page.keyboard.press('Escape')
  await prompt.waitUntilClosed()
}

async function exportAKey({ page }: AppWindow): Promise<void> {
  const prompt = securePromptPage(page)
  await page
    .getByRole('region', { name: 'Planted wallet' })
    .getByRole('button', { name: /^Actions for/ })
    .nth(1)
    .click()
  await page.getByRole('menuitem', { name: 'Export as a keystore…' }).click()
  await prompt.fill('Wallet passphrase', passphrase)
  await prompt.fill('New file password', exportPassword)
  await prompt.fill('Confirm password', exportPassword)
  await prompt.press('Create file')
  await prompt.step('Your file is ready')
  await prompt.press('Done')
  await prompt.waitUntilClosed()
}

/** The window checks the key immediately. */
async function giveProviderKey(window: AppWindow): Promise<void> {
  const { page } = window
  const prompt = securePromptPage(page)
  await window.command('Settings: Models')
  const openAi = page.getByRole('listitem', { name: 'OpenAI', exact: true })
  await openAi.getByRole('button', { name: 'Add key for OpenAI' }).click()
  await prompt.fill('API key', providerKey)
  await prompt.press('Save key')
  await prompt.waitUntilClosed()
  await openAi.getByText('OpenAI cannot be reached. The key was not tested.').waitFor()
}

/** Submits the intent as the window does, with the user's session. */
async function signText(page: Page): Promise<void> {
  const { id } = await callInPage(page, askIntent, { intent: { kind: 'message', text: 'I agree.' } })
  expect(await callInPage(page, decideIntent, { intentId: id, approve: true })).toMatchObject({ state: 'signed' })
}

/** Observes the processes of all pages in the browser. */
async function processes(): Promise<Observation[] | undefined> {
  const pids = await renderers()
  if (!pids.every(isMemoryReadable)) return undefined
  return pids.map((pid) => {
    const matches = inMemory(pid, searchMemory)
    const present = plain.filter((_, index) => matches.includes(index))
    return { isWindow: matches.includes(plain.length), secrets: [...new Set(present.map(({ name }) => name))] }
  })
}

async function renderers(): Promise<number[]> {
  const session = await app?.browser.newBrowserCDPSession()
  if (!session) throw new Error('There is no browser yet.')
  try {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
  } finally {
    await session.detach()
  }
}

/** Takes a heap snapshot as the developer tools do. */
async function readHeap(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  try {
    const pieces: string[] = []
    session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => pieces.push(chunk))
    await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
    return Buffer.from(pieces.join(''))
  } finally {
    await session.detach()
  }
}

/** Returns a port without a listener. */
async function deadAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listens on TCP
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
