import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe } from '../../src/shared/contract/auth.ts'
import { getBalance, grantCredits, listTransactions } from '../../src/shared/contract/credits.ts'
import { createChatCompletion, listModels } from '../../src/shared/contract/inference.ts'
import { eventually, until } from '../support/eventually.ts'
import { type ProviderServer, providerServer } from '../support/models/providerServer.ts'
import { plantedText, searchFor, writtenFiles } from '../support/plantedSecrets.ts'
import { projectFolder } from '../support/plantedTree.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { type ServiceProcess, serviceProcess } from '../support/serviceProcess.ts'
import { importPrivateKey } from '../support/walletForms.ts'
import { pictures } from './pages/pictures.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'
import { callInPage } from './pages/windowCalls.ts'

/** The window of somebody whose service runs elsewhere and belongs to somebody else: the wallet signs in, and no more. */
const walletKey = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
/** In the configuration of this computer, as it is left there when the service moves elsewhere. */
const ownKey = 'sk-openai-of-this-computer-5ecret'
const search = searchFor([plantedText('the key of this computer', ownKey), plantedText('the wallet', walletKey)])
const look = pictures()

let providers: ProviderServer
let relay: Relay
let service: ServiceProcess
let app: StewardInBrowser
const sent: Buffer[] = []

beforeAll(async () => {
  providers = await providerServer()
  relay = await startRelay(
    () => Number(new URL(service.url).port),
    (bytes) => sent.push(bytes),
  )
  const { baseUrl, apiKey } = providers.providerOf('a')
  providers.playAlways(() => ({
    parts: [{ text: 'Good day.' }],
    usage: { input: 20, output: 4, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, reasoning: 0 },
  }))
  service = await serviceProcess(
    { folder: projectFolder, program: 'out/main/service.js' },
    {
      service: { public_url: relay.url },
      inference: { families: { a: { base_url: baseUrl, api_key: apiKey } } },
    },
  )
  app = await ownStewardInBrowser({
    ownerKey: service.key,
    config: {
      app: { service_url: relay.url },
      wallet: { secret_store: 'vault_file' },
      log: { level: 'debug' },
      inference: { families: { a: { api_key: ownKey } } },
    },
  })
  await importPrivateKey(app.person, { key: walletKey, passphrase: 'violet anchor seldom pretzel orbit' })
  await until('the wallet to sign in', () => app.person.call(getMe, {}).catch(() => undefined))
})
afterAll(async () => {
  await app?.close()
  await service?.close()
  await relay?.close()
  await providers?.close()
})

test('the credits are those of the account, and what only the owner does is not offered', async () => {
  const { id, role } = await app.person.call(getMe, {})
  expect(role).toBe('user')
  const { page } = await app.window()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Credits' }).click()
  const main = page.getByRole('main')
  const available = main.getByRole('region', { name: 'Balance', exact: true }).getByLabel('Available', { exact: true })
  const reads = (text: string) => until(`the balance ${text}`, async () => (await available.textContent()) === text)
  await reads('$0.00')
  await main.getByText('No transactions yet.').waitFor()
  await look(page, 'credits-hosted-empty')

  await app.client.call(grantCredits, { to_address: id, amount_cents: 500, note: 'For your project' })
  await reads('$5.00')
  const rows = main.getByRole('region', { name: 'History', exact: true }).getByRole('listitem')
  await rows.filter({ hasText: 'For your project' }).waitFor()

  const messages = [{ role: 'user' as const, content: 'Hello' }]
  await app.person.call(createChatCompletion, { model: 'gpt-5.2', messages, max_completion_tokens: 64 })
  await rows.filter({ hasText: 'gpt-5.2' }).getByRole('button').first().click()
  await rows.filter({ hasText: 'Tokens' }).waitFor()
  expect(await page.getByRole('button', { name: /^(Refund…|Adjust balance|Give)$/ }).count()).toBe(0)
  await look(page, 'credits-hosted')

  for (const place of ['grant', 'adjust']) {
    await page.evaluate((it) => location.assign(`#/credits/${it}`), place)
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Only the owner of this service can do this.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await dialog.waitFor({ state: 'hidden' })
  }
  const refused = callInPage(page, grantCredits, { to_address: id, amount_cents: 500 })
  await expect(refused).rejects.toThrow()
})

test('neither account sees what belongs to the other', async () => {
  const own = await app.person.call(listTransactions, {})
  const owners = await app.client.call(listTransactions, {})
  expect(own.transactions.map(({ type }) => type)).toEqual(['inference', 'grant'])
  const ids = new Set(own.transactions.map(({ id }) => id))
  expect(owners.transactions.filter(({ id }) => ids.has(id))).toEqual([])
  const { balance_cents: balance } = await app.person.call(getBalance, {})
  expect(balance).toBe(499) // and a part of a cent
  expect((await app.client.call(getBalance, {})).balance_cents).not.toBe(balance)
})

test('models are those of the service, and a key of this computer never leaves it', async () => {
  const { page } = await app.window()
  const section = await settingsScreen(page).open('Models')
  await section.getByText(/^Whoever runs .* sets its provider keys/).waitFor()
  await section.getByRole('rowheader', { name: 'gpt-5.2', exact: true }).waitFor()
  expect(await section.getByRole('button', { name: /key|server/i }).count()).toBe(0)
  await look(page, 'settings-models-hosted')
  await look.inOtherSizes(page, 'settings-models-hosted')

  const { data } = await app.person.call(listModels, {})
  expect(data.find(({ id }) => id === 'gpt-5.2')).toMatchObject({ available: true })
  await eventually(() => expect(Buffer.concat(sent).toString('latin1')).toContain('GET /v1/models'))
  const relayed = { where: 'what was sent to the service', bytes: Buffer.concat(sent) }
  expect([relayed, ...writtenFiles(service.dataDir)].flatMap(search)).toEqual([])
  for (const { headers } of providers.requests) expect(JSON.stringify(headers)).not.toContain(ownKey)
})
