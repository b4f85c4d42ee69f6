import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { createChatCompletion, listModels } from '#shared/contract/inference.ts'
import { listModelServers } from '#shared/contract/providers.ts'
import { plantText, readFiles, searchFor } from '../support/assertions/canarySecrets.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createWindowTraffic } from '../support/assertions/windowTraffic.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Key accepted by the strict OpenAI fake. */
const key = 'sk-openai-secret'
const wrongKey = 'sk-openai-mistyped-5ecret'
const search = searchFor([plantText('the key', key), plantText('the mistyped key', wrongKey)])

const look = pictures()
let providers: ProviderServer
/** Listens on the default port of Ollama if it is free. */
let ollama: Server | undefined
let app: StewardInBrowser
const getOrigin = () => new URL(app.steward.url).origin

beforeAll(async () => {
  providers = await createProviderServer()
  ollama = await fakeOllama()
  const { baseUrl } = providers.providerOf('a')
  app = await ownStewardInBrowser({
    config: {
      wallet: { secret_store: 'vault_file' },
      log: { level: 'debug' },
      inference: { families: { a: { base_url: baseUrl } } },
    },
  })
})
afterAll(async () => {
  await app?.close()
  await providers?.close()
  ollama?.close()
})

async function fakeOllama(): Promise<Server | undefined> {
  const models = ['llama3.2:3b', 'qwen3:8b', 'gpt-5.2'].map((id) => ({ id, object: 'model', owned_by: 'library' }))
  const server = createServer((_, answer) => answer.end(JSON.stringify({ object: 'list', data: models })))
  server.listen(11434, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch {
    return undefined // a real Ollama runs on this computer
  }
}

test('adds a key in the secure prompt, tests it and enables its models', async () => {
  const window = await app.window()
  const { page } = window
  const traffic = createWindowTraffic(page)
  await window.reload()
  const section = await settingsScreen(page).open('Models')
  const openAi = section.getByRole('listitem', { name: 'OpenAI', exact: true })
  await openAi.getByText('No key').waitFor()
  await look(page, 'settings-models-empty')

  const prompt = securePromptPage(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await openAi.getByRole('button', { name: 'Add key for OpenAI' }).click()
  await prompt.step('Add OpenAI key')
  await prompt.frame.getByText('Steward sends it to').waitFor()
  await prompt.fill('API key', 'two words')
  await prompt.press('Save key')
  await prompt.frame.getByRole('alert').getByText('A key has no spaces').waitFor()
  await look(page, 'settings-models-prompt', ['dark'])
  await prompt.fill('API key', wrongKey)
  await prompt.press('Save key')
  await prompt.waitUntilClosed()
  await openAi.getByText('OpenAI rejected this key').waitFor()

  await openAi.getByRole('button', { name: 'Actions for OpenAI' }).click()
  await page.getByRole('menuitem', { name: 'Replace key…' }).click()
  await prompt.fill('API key', key)
  await prompt.press('Save key')
  await prompt.waitUntilClosed()
  await openAi.getByText('OpenAI accepts this key.').waitFor()
  await openAi.getByText('Key ending in cret, in an encrypted file').waitFor()
  await openAi.getByText('6 models').click()
  await openAi.getByRole('rowheader', { name: 'gpt-5.2', exact: true }).waitFor()
  await look(page, 'settings-models')
  await look.inOtherSizes(page, 'settings-models')
  const { data } = await app.client.call(listModels, {})
  expect(data.find(({ id }) => id === 'gpt-5.2')).toMatchObject({ available: true })

  const everything = [...(await traffic.everything()), ...(await traffic.prompts())]
  const html = { where: 'the page', bytes: Buffer.from(await page.content()) }
  expect(everything.length).toBeGreaterThan(10)
  expect([...everything, html, ...readFiles(app.steward.dataFolder)].flatMap(search)).toEqual([])
})

test('a Codex key has models and a limit, and its configuration can be copied', async () => {
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Coding agents')
  await section.getByRole('button', { name: 'Codex', exact: true }).waitFor()
  await look(page, 'settings-coding-agents')
  await look.inOtherSizes(page, 'settings-coding-agents')
  await section.getByRole('button', { name: 'New key…' }).click()
  const form = window.dialog('New API key')
  expect(await form.getByLabel('Name').inputValue()).toBe('codex')
  await form.getByLabel('Daily limit').fill('much')
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('Enter dollars and cents, such as 5 or 2.50.').waitFor()
  await form.getByLabel('Daily limit').fill('2.50')
  await form.getByRole('button', { name: /^Models/ }).click()
  await page.getByRole('menuitemradio', { name: 'Only some models' }).click()
  await form.getByRole('checkbox', { name: 'gpt-5.2', exact: true }).check()
  await look(page, 'settings-new-key')
  await form.getByRole('button', { name: 'Create key' }).click()
  const dialog = window.dialog('Key created: codex')
  await look(page, 'settings-coding-agents-key')
  const secret = (await dialog.getByRole('region', { name: 'Key', exact: true }).locator('code').textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Copy line' }).click()
  const readClipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  await eventually(async () => expect(await readClipboard()).toBe('read -rs STEWARD_KEY && export STEWARD_KEY'))
  await dialog.getByRole('button', { name: 'Done' }).click()
  await section.getByRole('button', { name: 'Copy ~/.codex/config.toml' }).click()
  await eventually(async () => {
    expect(await readClipboard()).toContain(
      `base_url = "${getOrigin()}/v1"\nwire_api = "responses"\nenv_key = "STEWARD_KEY"`,
    )
  })
  await section.getByRole('button', { name: 'Claude Code' }).click()
  await section.getByText(`export ANTHROPIC_BASE_URL="${getOrigin()}"`).waitFor()

  const codex = createStewardClient(getOrigin(), secret)
  const hello = { messages: [{ role: 'user', content: 'Hello' }] }
  const { choices, usage } = await codex.call(createChatCompletion, { ...hello, model: 'gpt-5.2' })
  expect(choices).toHaveLength(1)
  expect(usage.cost.micro_usd).toBeGreaterThan(0)
  await expect(codex.call(createChatCompletion, { ...hello, model: 'gpt-5-mini' })).rejects.toThrow(/: 403 /)
  const { api_keys: keys } = await app.client.call(listApiKeys, {})
  expect(keys.find(({ name }) => name === 'codex')).toMatchObject({ models: ['gpt-5.2'], daily_limit_cents: 250 })

  const list = await settingsScreen(page).open('API keys')
  const row = list.getByRole('row', { name: /codex/ })
  await row.getByText('gpt-5.2', { exact: true }).waitFor()
  await row.getByText(/^\$0\.\d+ of \$2\.50 today$/).waitFor()
  await look(page, 'settings-keys-limits')
})

test('finds local models on request, adds them with a click and removes them', async (context) => {
  if (!ollama) context.skip('something else listens at the port of Ollama')
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Models')
  await section.getByRole('button', { name: 'Find local models' }).click()
  await section.getByText('llama3.2:3b, qwen3:8b, gpt-5.2').waitFor()
  await look(page, 'settings-models-found')
  await section.getByRole('button', { name: 'Add Ollama' }).click()
  const server = section.getByRole('listitem', { name: 'ollama', exact: true })
  await server.getByText('Unavailable because the name is taken: gpt-5.2 (OpenAI)').waitFor()
  await server.getByText('2 models').click()
  await server.getByRole('rowheader', { name: 'qwen3:8b' }).waitFor()
  await look(page, 'settings-models-local')
  const { data } = await app.client.call(listModels, {})
  expect(data.filter(({ provider }) => provider === 'local:ollama').map(({ id }) => id)).toEqual([
    'llama3.2:3b',
    'qwen3:8b',
  ])

  await section.getByRole('button', { name: 'Add server…' }).click()
  const form = window.dialog('Add a model server')
  await form.getByLabel('Name').fill('Mein Sérver')
  await form.getByLabel('Address').fill('ftp://there')
  await form.getByRole('button', { name: 'Add server' }).click()
  await form.getByText('The name must be lower-case letters').waitFor()
  await form.getByText('The address must be an http://').waitFor()
  await form.getByLabel('Name').fill('moon')
  await form.getByLabel('Address').fill('http://127.0.0.1:9/v1')
  await form.getByRole('button', { name: 'Add server' }).click()
  await form.getByText('http://127.0.0.1:9/v1 cannot be reached.').waitFor()
  await look(page, 'settings-models-add')
  await form.getByLabel('Address').fill(providers.providerOf('d').baseUrl)
  await form.getByRole('button', { name: 'Add server' }).click()
  const prompt = securePromptPage(page)
  await prompt.step('Add key for moon')
  await prompt.fill('API key', 'sk-moonshot-secret')
  await prompt.press('Save key')
  await prompt.waitUntilClosed()
  const moon = section.getByRole('listitem', { name: 'moon', exact: true })
  await moon.getByText('1 model').waitFor()

  for (const name of ['moon', 'ollama']) {
    await section.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
    await page.getByRole('menuitem', { name: 'Remove…' }).click()
    await window.dialog(`Remove ${name}?`).getByRole('button', { name: 'Remove server' }).click()
    await section.getByRole('listitem', { name, exact: true }).waitFor({ state: 'detached' })
  }
  await eventually(async () => expect((await app.person.call(listModelServers, {})).servers).toEqual([]))
})

test('removing a key removes its models', async () => {
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Models')
  const openAi = section.getByRole('listitem', { name: 'OpenAI', exact: true })
  await openAi.getByRole('button', { name: 'Actions for OpenAI' }).click()
  await page.getByRole('menuitem', { name: 'Remove key…' }).click()
  await window.dialog('Remove OpenAI key?').getByRole('button', { name: 'Remove key' }).click()
  await openAi.getByText('No key').waitFor()
  await eventually(async () => {
    const { data } = await app.client.call(listModels, {})
    expect(data.find(({ id }) => id === 'gpt-5.2')).toMatchObject({ available: false })
  })
})
