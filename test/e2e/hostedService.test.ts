import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '#shared/contract/accounts.ts'
import { getMe } from '#shared/contract/auth.ts'
import { adjustCredits, getBalance, grantCredits, listTransactions, refundCharge } from '#shared/contract/credits.ts'
import { createChatCompletion } from '#shared/contract/inference.ts'
import { addModelServer, readProviderKeysAgain, removeProviderKey, testProvider } from '#shared/contract/providers.ts'
import { openSecurePrompt } from '#shared/contract/wallet.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { plantText, readFiles, searchFor } from '../support/assertions/canarySecrets.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createWindowTraffic } from '../support/assertions/windowTraffic.ts'
import { giveProviderKey } from '../support/clients/keyPrompts.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { type Relay, startRelay } from '../support/fakes/relay.ts'
import { seedCharge } from '../support/fixtures/seedCharge.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'
import { startSteward } from '../support/processes/steward.ts'
import { openCredits } from './pages/creditsScreen.ts'
import { pictures } from './pages/pictures.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/**
 * Window connected to another operator's service, which identifies the user by wallet. All of its traffic is recorded.
 */
let providers: ProviderServer
let relay: Relay
let service: ServiceProcess
let app: StewardInBrowser
let owner: string
const connections: Buffer[][] = []
const wallet = evmWallet()
const passphrase = 'violet anchor seldom pretzel'
const look = pictures()

/** The application stored one key before it was connected to the service. The other comes from its configuration. */
const localKey = 'sk-kept-on-this-computer-5ecret'
const configuredKey = 'sk-ant-configured-on-this-computer-5ecret'
const findKeys = searchFor([plantText('the kept key', localKey), plantText('the configured key', configuredKey)])

const config = {
  wallet: { secret_store: 'vault_file' },
  log: { level: 'debug' },
  inference: { families: { b: { api_key: configuredKey } } },
}

beforeAll(async () => {
  providers = await createProviderServer()
  const { baseUrl, apiKey } = providers.providerOf('a')
  relay = await startRelay(
    () => Number(new URL(service.url).port),
    (near) => {
      const pieces: Buffer[] = []
      connections.push(pieces)
      near.on('data', (piece: Buffer) => pieces.push(piece))
    },
  )
  service = await createServiceProcess(
    { folder: projectFolder, program: 'out/main/service.js' },
    {
      service: { public_url: relay.url },
      inference: { families: { a: { base_url: baseUrl, api_key: apiKey } } },
    },
  )
  const dataFolder = await folderWithKey()
  app = await ownStewardInBrowser({
    dataFolder,
    config: { ...config, app: { service_url: relay.url } },
    ownerKey: service.key,
  })
  owner = (await app.client.call(getMe, {})).id
})
afterAll(async () => {
  await app?.close()
  await service?.close()
  await relay?.close()
  await providers?.close()
})

/** Creates the data folder of a Steward whose own service has an OpenAI key. */
async function folderWithKey(): Promise<string> {
  const dataFolder = temporaryFolder('data')
  const steward = await startSteward({ dataFolder, config })
  try {
    const { origin, hash } = new URL(steward.url)
    const session = await openPersonSession(origin, hash.replace('#token=', ''))
    expect(await giveProviderKey({ origin, session, family: 'a', key: localKey })).toContain(
      'steward.secure-prompt.done',
    )
  } finally {
    await steward.close()
  }
  return dataFolder
}

const readSent = () => connections.map((pieces) => Buffer.concat(pieces))
const listHistory = async () => (await app.person.call(listTransactions, { limit: 100 })).transactions

test('shows the sign-in requirement and no account data without a wallet', async () => {
  const window = await app.window()
  const credits = await openCredits(window)
  const message = `Create or import a wallet to sign in to ${new URL(relay.url).host}.`
  const needed = credits.root.getByRole('status').filter({ hasText: 'Sign-in needed' })
  await needed.getByText(message).waitFor()
  expect(await needed.count()).toBe(1)
  expect(await credits.part('Balance').count()).toBe(0)
  await needed.getByRole('button', { name: 'Create wallet', exact: true }).waitFor()
  await needed.getByRole('button', { name: 'Import a wallet', exact: true }).waitFor()
  expect(await window.page.getByText(/Waiting for the service|not reachable/).count()).toBe(0)
  await window.page.getByRole('status').filter({ hasText: ': sign-in needed' }).waitFor()
  await look(window.page, 'credits-hosted-absent', ['dark'])
  const section = await settingsScreen(window.page).open('Models')
  await section.getByText(message).waitFor()
  expect(await section.getByText('No models yet.').count()).toBe(0)

  await importPrivateKey(app.person, { key: wallet.privateKey, passphrase })
  await section.getByRole('rowheader', { name: 'gpt-5.2', exact: true }).waitFor()
})

describe('account credits', () => {
  const ofOwner = searchFor([
    plantText('the owner’s note', 'only-the-owner-1'),
    plantText('the key', 'only-the-owner-2'),
  ])

  test('are separate from the owner’s and show a grant immediately', async () => {
    await app.client.call(grantCredits, { to_address: owner, amount_cents: 700, note: 'only-the-owner-1' })
    const { id: keyId } = await app.client.call(createApiKey, { name: 'only-the-owner-2', daily_limit_cents: 500 })
    seedCharge(service.dataDir, { accountId: owner, cents: 150, keyId })
    const window = await app.window()
    const traffic = createWindowTraffic(window.page)
    await window.reload()
    const credits = await openCredits(window)
    await credits.reads('Available', '$0.00')
    await credits.part('History').getByText('No transactions yet.').waitFor()
    await credits.part('Spending').getByText('Nothing spent in this period.').waitFor()
    await credits.part('API key limits').getByText('No key has a daily limit.').waitFor()
    expect(await credits.root.getByText('Metered usage of your own provider keys').count()).toBe(0)
    await look(window.page, 'credits-hosted')

    await app.client.call(grantCredits, { to_address: wallet.address, amount_cents: 1_234, note: 'Welcome' })
    await credits.reads('Available', '$12.34')
    await credits.total(1)
    await credits.rows.first().getByText('Welcome').waitFor()

    const everything = await traffic.everything()
    expect(everything.filter(({ where }) => where.includes('/v1/credits/')).length).toBeGreaterThan(5)
    const html = { where: 'the page', bytes: Buffer.from(await window.page.content()) }
    expect([...everything, html].flatMap(ofOwner)).toEqual([])
  })

  test('cannot be granted, adjusted or refunded by the account', async () => {
    const window = await app.window()
    const credits = await openCredits(window)
    const { id: account } = await app.person.call(getMe, {})
    seedCharge(service.dataDir, { accountId: account, cents: 34, model: 'gpt-5.2' })
    await window.reload()
    await openCredits(window)
    const charge = credits.rows.filter({ hasText: '−$0.34' })
    await charge.getByRole('button').click()
    await charge.getByText('Amount', { exact: true }).waitFor()
    for (const name of ['Refund…', 'Give', 'Adjust balance']) {
      expect(await credits.root.getByRole('button', { name }).count()).toBe(0)
    }
    for (const title of ['Grant credits', 'Adjust balance']) {
      await window.command(title === 'Grant credits' ? 'Grant credits…' : 'Adjust credit balance…')
      const dialog = window.dialog(title)
      await dialog.getByText('Only the owner of this service can do this.').waitFor()
      expect(await dialog.getByRole('textbox').count()).toBe(0)
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await dialog.waitFor({ state: 'hidden' })
    }

    const before = await listHistory()
    const [ofOwners] = (await app.client.call(listTransactions, { limit: 1, type: 'inference' })).transactions
    const [ownEntry] = before
    if (!ofOwners || !ownEntry) throw new Error('There are no charges.')
    for (const refused of [
      () => app.person.call(grantCredits, { to_address: account, amount_cents: 100_000 }),
      () => app.person.call(adjustCredits, { amount_cents: 100_000, note: 'More' }),
      () => app.person.call(adjustCredits, { to_address: owner, amount_cents: -1, note: 'Less' }),
      () => app.person.call(refundCharge, { transaction_id: ownEntry.id }),
      () => app.person.call(refundCharge, { transaction_id: ofOwners.id }),
    ]) {
      await expect(refused()).rejects.toThrow(/ 403 .*auth\/forbidden/)
    }
    const history = await app.person.call(listTransactions, { text: ofOwners.id })
    expect(history.total).toBe(0)
    expect(await listHistory()).toEqual(before)
  })

  test('can be transferred to the owner', async () => {
    const before = (await app.client.call(getBalance, {})).balance_cents
    const window = await app.window()
    const credits = await openCredits(window)
    await credits.reads('Available', '$12.00')
    await credits.root.getByRole('button', { name: 'Transfer' }).click()
    const form = window.dialog('Transfer credits')
    await form.getByLabel('To').fill(owner)
    await form.getByLabel('Amount').fill('2')
    await form.getByRole('button', { name: 'Continue' }).click()
    await window.dialog('Transfer $2.00?').getByRole('button', { name: 'Transfer $2.00' }).click()
    await credits.reads('Available', '$10.00')
    await credits.rows.filter({ hasText: '−$2.00' }).waitFor()
    expect((await app.client.call(getBalance, {})).balance_cents).toBe(before + 200)
  })
})

describe('the models', () => {
  test('come from the service, which manages their keys', async () => {
    const window = await app.window()
    const { page } = window
    const changes: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`)
    })
    const section = await settingsScreen(page).open('Models')
    await section
      .getByRole('listitem', { name: 'OpenAI' })
      .getByRole('rowheader', { name: 'gpt-5.2', exact: true })
      .waitFor()
    expect(await section.getByRole('listitem').count()).toBe(1)
    const { host } = new URL(relay.url)
    await section.getByText(`The owner of ${host} sets its provider keys. Yours stay on this computer.`).waitFor()
    await look(page, 'settings-models-hosted')
    expect(await section.getByText(/Keys for model providers|keychain|cret/).count()).toBe(0)
    expect(await section.getByRole('button').count()).toBe(0)
    expect(await section.getByRole('textbox').count()).toBe(0)
    await page.waitForLoadState('networkidle')
    expect(changes).toEqual([])
  })

  test('accept no key or server from this computer', async () => {
    for (const refused of [
      () => app.person.call(openSecurePrompt, { purpose: 'provider_key', family: 'a', theme: 'dark' }),
      () => app.person.call(removeProviderKey, { family: 'a' }),
      () => app.person.call(addModelServer, { name: 'mine', base_url: 'http://127.0.0.1:9/v1' }),
    ]) {
      await expect(refused()).rejects.toThrow(/provider-key\/elsewhere/)
    }
    await expect(app.person.call(testProvider, { family: 'a' })).rejects.toThrow(/ 403 /)
  })

  test('use the service key and never send a key of this computer', async () => {
    await app.person.call(readProviderKeysAgain, {})
    const completion = { model: 'gpt-5.2', messages: [{ role: 'user' as const, content: 'Hello from the account' }] }
    expect((await app.person.call(createChatCompletion, completion)).choices).toHaveLength(1)
    expect(providers.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-openai-secret'])

    // Verifies that the recording contains the actual traffic.
    expect(readSent().some((bytes) => bytes.includes('Hello from the account'))).toBe(true)
    const toService = readSent().map((bytes, index) => ({ where: `connection ${index}`, bytes }))
    expect([...toService, ...readFiles(service.dataDir)].flatMap(findKeys)).toEqual([])
    // The keys remain stored. Only the configuration file contains one in plain text.
    expect(readFiles(app.steward.dataFolder).flatMap(findKeys)).toEqual(['the configured key as text in config.json'])
  })
})

test('signs in with the account chosen in Settings until another one is chosen', async () => {
  const second = evmWallet()
  await importPrivateKey(app.person, { key: second.privateKey, passphrase })
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Account')
  const signsIn = section.getByRole('button', { name: /Signs in with/ })
  await signsIn.getByText(shortenAddress(wallet.address)).waitFor()
  const { id } = await app.person.call(getMe, {})
  await signsIn.click()
  await page.getByRole('menuitemradio', { name: new RegExp(shortenAddress(second.address)) }).click()
  const dialog = page.getByRole('dialog', { name: /^Sign in with / })
  await dialog.getByText(/signs out of/).waitFor()
  await look(page, 'settings-sign-in', ['dark'])
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await signsIn.getByText(shortenAddress(second.address)).waitFor()
  await eventually(async () =>
    expect(await app.person.call(getMe, {})).toMatchObject({ wallet_address: second.address }),
  )
  const next = (await app.person.call(getMe, {})).id
  expect(next).not.toBe(id)
  await section.getByText(next, { exact: true }).waitFor()
  await section.getByRole('button', { name: `Unlink ${second.address}` }).waitFor()
  await look(page, 'settings-account-hosted', ['dark'])
})
