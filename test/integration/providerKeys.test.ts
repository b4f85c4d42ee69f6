import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '#shared/contract/accounts.ts'
import { createChatCompletion, listModels } from '#shared/contract/inference.ts'
import {
  addModelServer,
  listModelServers,
  listProviders,
  removeModelServer,
  removeProviderKey,
  testProvider,
} from '#shared/contract/providers.ts'
import { listTimeline } from '#shared/contract/timeline.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import { plantText, readFiles, searchFor } from '../support/assertions/canarySecrets.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { listProcesses } from '../support/assertions/processes.ts'
import { giveProviderKey, giveServerKey } from '../support/clients/keyPrompts.ts'
import { openPersonSession, type PersonSession } from '../support/clients/personSession.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { createPersonClient, type PersonClient } from '../support/clients/walletForms.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { type Steward, startSteward } from '../support/processes/steward.ts'

/** Key accepted by the strict OpenAI fake. */
const key = 'sk-openai-secret'
const wrongKey = 'sk-openai-mistyped-5ecret'
const search = searchFor([plantText('the key', key), plantText('the mistyped key', wrongKey)])

const dataFolder = temporaryFolder('data')
let providers: ProviderServer
let steward: Steward
let origin: string
let session: PersonSession
let person: PersonClient

beforeAll(async () => {
  providers = await createProviderServer()
  const { baseUrl } = providers.providerOf('a')
  const config = {
    wallet: { secret_store: 'vault_file' },
    log: { level: 'debug' },
    inference: { families: { a: { base_url: baseUrl }, b: { api_key: 'sk-of-the-configuration' } } },
  }
  writeFileSync(join(dataFolder, 'config.json'), JSON.stringify(config))
  await start()
})
afterAll(async () => {
  await steward?.close()
  await providers?.close()
})

async function start(): Promise<void> {
  steward = await startSteward({ dataFolder })
  const { origin: at, hash } = new URL(steward.url)
  origin = at
  session = await openPersonSession(origin, hash.replace('#token=', ''))
  person = createPersonClient(origin, session)
}

const ask = () =>
  person.call(createChatCompletion, { model: 'gpt-5.2', messages: [{ role: 'user', content: 'Hello' }] })
const available = async (model: string) =>
  (await person.call(listModels, {})).data.find(({ id }) => id === model)?.available
const openAi = async () => (await person.call(listProviders, {})).providers.find(({ family }) => family === 'a')

test('a model without a key returns an error and shows the key storage', async () => {
  const { managed_by, storage, providers: list } = await person.call(listProviders, {})
  expect(managed_by).toBe('you')
  expect(storage).toMatchObject({ kind: 'file', detail: expect.stringContaining('can read your keys') })
  expect(list.map(({ name, configured }) => `${name}: ${configured}`)).toEqual([
    'OpenAI: null',
    'Anthropic: config',
    'Google: null',
    'Moonshot AI: null',
    'Qwen: null',
  ])
  expect(JSON.stringify(list)).not.toContain('sk-of-the-configuration')
  expect(await available('gpt-5.2')).toBe(false)
  await expect(ask()).rejects.toThrow(/503/)
})

test('the secure prompt rejects an invalid key and the test rejects a wrong one', async () => {
  expect(await giveProviderKey({ origin, session, family: 'a', key: 'two words' })).toContain('A key has no spaces')
  expect(await giveProviderKey({ origin, session, family: 'a', key: wrongKey })).toContain('steward.secure-prompt.done')
  await eventually(async () => expect(await available('gpt-5.2')).toBe(true))
  const refused = await person.call(testProvider, { family: 'a' })
  expect(refused).toMatchObject({ outcome: 'refused' })
  expect(JSON.stringify(refused)).not.toContain(wrongKey)
})

test('a key from the secure prompt works without a wallet', async () => {
  expect(await giveProviderKey({ origin, session, family: 'a', key })).toContain('steward.secure-prompt.done')
  await eventually(async () =>
    expect(await person.call(testProvider, { family: 'a' })).toMatchObject({ outcome: 'accepted' }),
  )
  expect((await person.call(getWallet, {})).state).toBe('absent')
  expect((await ask()).choices).toHaveLength(1)
  expect(await openAi()).toMatchObject({ configured: 'file', key: { place: 'file', ends_with: 'cret', fault: null } })
})

test('stores the key in sealed files that only this user can read', () => {
  for (const name of ['vault.json', 'seal.key']) {
    expect(statSync(join(dataFolder, 'providers', name)).mode & 0o777).toBe(0o600)
  }
})

test('loads the key again after a service kill and after a restart of Steward', async () => {
  const { service } = steward.pids()
  process.kill(service, 'SIGKILL')
  await until('another service runs', () => {
    try {
      return steward.pids().service !== service
    } catch {
      return false // no lock is held between the two
    }
  })
  await eventually(async () => expect((await ask()).choices).toHaveLength(1))
  await steward.close()
  await start()
  await eventually(async () => expect((await ask()).choices).toHaveLength(1))
})

test('a program at the window address receives warnings about parameters changed for the provider', async () => {
  const { key: apiKey } = await person.call(createApiKey, {
    name: 'warned',
    models: ['gpt-5.2'],
    daily_limit_cents: 100,
  })
  const reply = await fetch(`${origin}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: 'gpt-5.2',
      max_tokens: 50,
      top_k: 3,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  expect(await reply.json()).toMatchObject({ type: 'message' })
  expect(reply.headers.get('x-steward-warnings')).toContain('top_k')
})

test('a program with an API key cannot see or change providers', async () => {
  const { key: apiKey } = await person.call(createApiKey, { name: 'program' })
  const program = createStewardClient(origin, apiKey)
  await expect(program.call(listProviders, {})).rejects.toThrow(/403/)
  await expect(program.call(removeProviderKey, { family: 'a' })).rejects.toThrow(/403/)
  await expect(program.call(addModelServer, { name: 'x', base_url: 'http://127.0.0.1:1/v1' })).rejects.toThrow(/403/)
  await expect(program.call(testProvider, { family: 'a' })).rejects.toThrow(/403/)
  const prompt = await fetch(`${origin}/local/secure-prompts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ purpose: 'provider_key', family: 'a', theme: 'dark' }),
  })
  expect(prompt.status).toBe(403)
})

test('a user-added server adds its models, requests its key and cannot reuse catalog names', async () => {
  const { baseUrl } = providers.providerOf('local:shed')
  await expect(person.call(addModelServer, { name: 'shed', base_url: 'http://127.0.0.1:9/v1' })).rejects.toThrow(
    /502.*cannot be reached/,
  )
  await expect(person.call(addModelServer, { name: 'shed', base_url: 'file:///etc/passwd' })).rejects.toThrow(/400/)
  const locked = await person.call(addModelServer, { name: 'locked', base_url: providers.providerOf('d').baseUrl })
  expect(locked).toMatchObject({ needs_key: true, models: [], key: null })
  expect(await giveServerKey({ origin, session, id: locked.id, key: wrongKey })).toContain('locked rejected this key')
  expect(await giveServerKey({ origin, session, id: locked.id, key: 'sk-moonshot-secret' })).toContain(
    'steward.secure-prompt.done',
  )
  const shed = await person.call(addModelServer, { name: 'shed', base_url: `${baseUrl}/` })
  expect(shed).toMatchObject({ base_url: baseUrl, needs_key: false, models: ['local-model'] })
  await expect(person.call(addModelServer, { name: 'shed', base_url: `${baseUrl}/other` })).rejects.toThrow(/409/)
  await expect(person.call(addModelServer, { name: 'other', base_url: baseUrl })).rejects.toThrow(
    /already added as “shed”/,
  )
  await eventually(async () => expect(await available('local-model')).toBe(true))
  expect(await available('moonshot-model')).toBe(true)
  const { choices } = await person.call(createChatCompletion, {
    model: 'local-model',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(choices).toHaveLength(1)
  await person.call(removeModelServer, { serverId: locked.id })
  await eventually(async () => expect(await available('moonshot-model')).toBeUndefined())
  const { servers } = await person.call(listModelServers, {})
  expect(servers.map(({ name }) => name)).toEqual(['shed'])
})

test('the key appears in no file, output, log entry, response, argument or environment', async () => {
  const { entries } = await person.call(listTimeline, {})
  const summaries = entries.map(({ summary }) => summary)
  expect(summaries).toContain('You replaced the API key for OpenAI.')
  const answers = [entries, await person.call(listProviders, {}), await person.call(listModelServers, {})]
  const children = listProcesses().filter(
    (child) => child.environment.includes(dataFolder) || child.command.includes(dataFolder),
  )
  expect(children.length).toBeGreaterThan(0)
  const written = [
    { where: 'answers', bytes: Buffer.from(JSON.stringify(answers)) },
    { where: 'processes', bytes: Buffer.from(JSON.stringify(children)) },
    { where: 'ps', bytes: execFileSync('ps', ['-eo', 'args']) },
    { where: 'output', bytes: Buffer.from(steward.output()) },
    ...readFiles(dataFolder),
  ]
  expect(readFileSync(join(dataFolder, 'agent.sqlite')).length).toBeGreaterThan(0)
  expect(written.flatMap(search)).toEqual([])
})

test('a removed key no longer works, even in the next run', async () => {
  await person.call(removeProviderKey, { family: 'a' })
  expect(await openAi()).toMatchObject({ configured: null, key: null })
  await eventually(async () => expect(await available('gpt-5.2')).toBe(false))
  await expect(person.call(removeProviderKey, { family: 'a' })).rejects.toThrow(/404/)
  await expect(ask()).rejects.toThrow(/503/)
})
