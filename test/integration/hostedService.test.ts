import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { openSocket } from '../support/clients/socketClient.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { type Relay, startRelay } from '../support/fakes/relay.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'
import { startSteward } from '../support/processes/steward.ts'

/** The agent and a service that identifies it only by its wallet: a real service, a real vault and real signatures. */
let service: TestService
let providers: ProviderServer
let relay: Relay
let passedMs = 0
const now = () => Date.now() + passedMs
const passphrase = 'several plain words'

beforeAll(async () => {
  providers = await createProviderServer()
  // A service behind a forwarded port is configured with its public addresses.
  service = await runningService({
    now,
    ownFronts: () => [new URL(relay.url).host],
    payments: { facilitator: { kind: 'test-ledger' } },
    inference: createInferenceOptions(providers),
  })
  relay = await startRelay(() => Number(new URL(service.url).port))
})
afterAll(async () => {
  await relay?.close()
  await service?.close()
  await providers?.close()
})

const waitForConnection = (agent: RunningAgent) =>
  until(`the connection of ${JSON.stringify(agent.connection())}`, () => agent.connection().state === 'connected')

function serviceDatabase<T>(use: (database: Database) => T): T {
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const waitForRefresh = () =>
  serviceDatabase(
    (database) => database.prepare('SELECT 1 FROM refresh_tokens WHERE used_at_ms IS NOT NULL').get() !== undefined,
  )

async function newPhrase(agent: RunningAgent): Promise<void> {
  const phrase = await agent.wallet.makePhrase(12)
  await agent.wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  agent.wallet.setAutoLock(null) // the clock of these tests jumps
}

describe('a hosted service', () => {
  const dataFolder = temporaryFolder('hosted')
  const start = () => createRunningAgent({ dataFolder, hosted: { url: relay.url, authority: undefined }, now })
  let agent: RunningAgent
  let sandboxId: string
  beforeAll(async () => {
    agent = await start()
  })
  afterAll(() => agent?.close())

  test('requires a wallet for sign-in and returns an error without one', async () => {
    const { host } = new URL(relay.url)
    await eventually(() =>
      expect(agent.connection()).toMatchObject({
        name: host,
        kind: 'hosted',
        state: 'signed-out',
        detail: `Create or import a wallet to sign in to ${host}.`,
      }),
    )
    const answer = await agent.send('/v1/sandboxes')
    expect(answer).toMatchObject({ status: 503, json: { code: 'service/sign-in', error: agent.connection().detail } })
  })

  test('is signed in to by the wallet without an approval request', async () => {
    await newPhrase(agent)
    await waitForConnection(agent)
    const { address } = agent.wallet.account('evm')
    const me = await agent.send('/v1/auth/me')
    expect(me.json).toMatchObject({ wallet_address: address, role: 'user', api_key: null })
    const { intents } = agent.approvals.list({ limit: 10 })
    expect(intents).toContainEqual(
      expect.objectContaining({
        kind: 'siwe',
        state: 'signed',
        requester: { kind: 'agent', id: 'sign-in', name: 'Steward' },
        decision: expect.objectContaining({ by: 'steward' }),
      }),
    )
  })

  test('provides sandboxes, terminals and files like a local service', async () => {
    const sandbox = await agent.send('/v1/sandboxes', { body: { name: 'far away' } })
    expect(sandbox.status, sandbox.text).toBe(201)
    sandboxId = sandbox.json.id
    expect((await agent.send('/v1/sandboxes')).json.sandboxes).toMatchObject([{ id: sandboxId }])
    expect((await service.send('/v1/sandboxes')).json.count).toBe(0)
    const terminal = await agent.send(`/v1/sandboxes/${sandboxId}/pty`, { body: { command: 'cat' } })
    const path = `/v1/sandboxes/${sandboxId}/pty/${terminal.json.session_id}/stream`
    const { origin, session } = agent
    const stream = await openSocket(`${origin}${path}`, { headers: { origin, ...session } })
    stream.send({ type: 'input', data: 'typed from afar\n' })
    await until('what was typed to come back', () => stream.text.includes('typed from afar'))
    stream.close()
    expect(agent.events).toContainEqual(expect.objectContaining({ type: 'sandbox.changed' }))
  })

  test('sells for its test money with payments from the wallet', async () => {
    const { address } = agent.wallet.account('evm')
    await service.send('/v1/payments/faucet', { body: { address } })
    const request = await agent.send('/local/payments/topup', { body: { amount_usd: 5 } })
    const { id, intent_id: intentId } = request.json.payment
    expect(request.json.payment, request.text).toMatchObject({ state: 'waiting', test: true })
    await agent.send(`/local/intents/${intentId}/decision`, { body: { approve: true } })
    const { json } = await agent.send(`/local/payments/${id}?wait_ms=20000`)
    expect(json).toMatchObject({ state: 'settled', paid: true })
    expect((await service.send(`/v1/payments/balance/${address}`)).json.balance).toBe('95000000')
    expect((await agent.send('/v1/credits/balance')).json.balance_cents).toBe(500)
  })

  test('refuses model requests while everything is stopped, regardless of path encoding', async () => {
    agent.approvals.switchStop(true)
    const spellings = ['completions', '%63ompletions', 'completions?a', 'completions#a', 'c%6F%6dpletions']
    const paths = [...spellings.map((it) => `/v1/chat/${it}`), '/v1/%72esponses', '/v1/mess%61ges']
    const body = { model: 'gpt-5.2', max_tokens: 9, messages: [] }
    const answers = await Promise.all(paths.map((path) => agent.send(path, { body })))
    agent.approvals.switchStop(false)
    expect(paths.filter((_, index) => !answers[index]?.text.includes('is stopped.'))).toEqual([])
    expect((await agent.send('/v1/chat/completions', { body })).text).not.toContain('is stopped.')
  })

  test('model streams end when everything is stopped', async () => {
    const { key } = (await agent.send('/v1/auth/api-keys', { body: { name: 'script' } })).json
    const { promise, resolve } = Promise.withResolvers<void>()
    providers.playAlways(() => ({ parts: [{ text: 'Once upon a time' }], usage: plainUsage, until: promise }))
    const response = await fetch(`${agent.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'shed-model', stream: true, messages: [{ role: 'user', content: 'Tell' }] }),
    })
    expect(response.status).toBe(200)
    agent.approvals.switchStop(true)
    await expect(response.text()).rejects.toThrow('terminated')
    await eventually(() => expect(providers.leftConnections()).toBe(1))
    agent.approvals.switchStop(false)
    resolve()
  })

  test('stays signed in when tokens expire and connections break', async () => {
    const { id } = (await agent.send('/v1/auth/me')).json
    const countBefore = agent.approvals.list({ limit: 50 }).intents.length
    passedMs += 59 * 60_000
    relay.cut()
    await eventually(async () => expect((await agent.send('/v1/auth/me')).json.id).toBe(id))
    await until('the old token to be exchanged', () => waitForRefresh())
    passedMs += 2 * 60_000
    expect((await agent.send('/v1/auth/me')).json.id).toBe(id)
    expect(agent.approvals.list({ limit: 50 }).intents).toHaveLength(countBefore)
  })

  test('is signed in to again after it has revoked the sign-in', async () => {
    serviceDatabase((database) => database.exec('UPDATE refresh_tokens SET revoked_at_ms = 1'))
    relay.cut()
    await eventually(async () => expect((await agent.send('/v1/auth/me')).status).toBe(200))
    await waitForConnection(agent)
  })

  test('waits after a restart until the wallet is unlocked, then recognizes the same user', async () => {
    await agent.close()
    agent = await start()
    await eventually(() => expect(agent.connection().detail).toMatch(/^Unlock the wallet to sign in to /))
    expect((await agent.send('/v1/sandboxes')).json.code).toBe('service/sign-in')
    await agent.wallet.unlock(passphrase)
    await waitForConnection(agent)
    expect((await agent.send('/v1/sandboxes')).json.sandboxes).toMatchObject([{ id: sandboxId, name: 'far away' }])
  })

  test('stores none of its tokens in the database', () => {
    const database = openDatabase(join(dataFolder, 'agent.sqlite'))
    const tables = database.prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()
    const rows = tables.map(({ name }) => JSON.stringify(database.prepare(`SELECT * FROM "${name}"`).all()))
    database.close()
    expect(rows.join()).not.toMatch(/srt_[\w-]{43}|eyJ[\w-]+\.eyJ/)
  })
})

describe('the account that signs in to a hosted service', () => {
  const dataFolder = temporaryFolder('hosted-account')
  const start = () => createRunningAgent({ dataFolder, hosted: { url: relay.url, authority: undefined }, now })
  let agent: RunningAgent
  const me = async () => (await agent.send('/v1/auth/me')).json
  const add = async () => {
    const { privateKey } = evmWallet(now)
    const keyring = await agent.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
    agent.wallet.setAutoLock(null)
    const [account] = keyring.accounts
    if (!account) throw new Error('A key has one account.')
    return { ...account, keyring }
  }
  const openSignIns = (address: string) =>
    serviceDatabase((database) =>
      database
        .prepare('SELECT 1 FROM refresh_tokens WHERE caip10 LIKE ? AND revoked_at_ms IS NULL AND used_at_ms IS NULL')
        .all(`%${address}`),
    ).length
  beforeAll(async () => {
    agent = await start()
  })
  afterAll(() => agent?.close())

  test('stays the same when another account becomes the default, even after a restart', async () => {
    const first = await add()
    await waitForConnection(agent)
    const { id } = await me()
    const second = await add()
    agent.wallet.setDefault(second.id)
    expect((await agent.send('/local/wallet/sign-in')).json.sign_in).toMatchObject({ address: first.address })
    expect((await me()).id).toBe(id)
    await agent.close()
    agent = await start()
    await agent.wallet.unlock(passphrase)
    await waitForConnection(agent)
    expect(await me()).toMatchObject({ id, wallet_address: first.address })
  })

  test('is signed out when removed without another account signing in unasked', async () => {
    const { address } = (await agent.send('/local/wallet/sign-in')).json.sign_in
    const { keyrings } = await agent.wallet.status()
    const keyring = keyrings.find(({ accounts }) => accounts.some((account) => account.address === address))
    if (!keyring) throw new Error('The account is not in the wallet.')
    expect(openSignIns(address)).toBe(1)
    await agent.wallet.remove(keyring.id, { typedLabel: keyring.label, passphrase })
    await until('the sign-in to end', () => openSignIns(address) === 0)
    await eventually(() =>
      expect(agent.connection()).toMatchObject({
        state: 'signed-out',
        detail: expect.stringContaining('Choose in Settings which account signs in'),
      }),
    )
    agent.wallet.lock()
    await agent.wallet.unlock(passphrase)
    expect(agent.connection().state).toBe('signed-out')
    await agent.close()
    agent = await start()
    await agent.wallet.unlock(passphrase)
    await eventually(() => expect(agent.connection().detail).toContain('Choose in Settings'))

    const account = agent.wallet.account('evm')
    const chosen = await agent.send('/local/wallet/sign-in', { method: 'PUT', body: { account_id: account.id } })
    expect(chosen.status, chosen.text).toBe(200)
    await waitForConnection(agent)
    expect((await me()).wallet_address).toBe(account.address)
  })

  test('is signed out when the user chooses another account', async () => {
    const before = agent.wallet.account('evm')
    const { id } = await me()
    const next = await add()
    const path = '/local/wallet/sign-in'
    expect((await agent.send(path, { method: 'PUT', body: { account_id: next.id } })).status).toBe(200)
    await until('the sign-in to end', () => openSignIns(before.address) === 0)
    await eventually(async () => expect(await me()).toMatchObject({ wallet_address: next.address }))
    expect((await me()).id).not.toBe(id)
  })

  test('stays linked on removal if it is the only sign-in, with a log entry', async () => {
    const dataFolder = temporaryFolder('hosted-only')
    const otherAgent = await createRunningAgent({ dataFolder, hosted: { url: relay.url, authority: undefined }, now })
    onTestFinished(() => otherAgent.close())
    const { privateKey } = evmWallet(now)
    const { id, label } = await otherAgent.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
    otherAgent.wallet.setAutoLock(null)
    await waitForConnection(otherAgent)
    const { address } = otherAgent.wallet.account('evm')
    await eventually(async () =>
      expect((await otherAgent.send('/local/wallet/links')).json.links).toMatchObject([{ address, linked: true }]),
    )
    await otherAgent.wallet.remove(id, { typedLabel: label, passphrase, unlinksAll: true })
    await until('the sign-in to end', () => openSignIns(address) === 0)
    await eventually(() => expect(otherAgent.connection().detail).toMatch(/^Create or import a wallet to sign in to /))
    const { json } = await otherAgent.send('/local/activity?limit=50')
    expect(JSON.stringify(json)).toContain(`The removed wallet ${address} still signs in to your account at`)
    const again = await otherAgent.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
    expect(again.accounts[0]?.address).toBe(address)
    await waitForConnection(otherAgent)
  })

  test('is not signed in if its address now belongs to another account', async () => {
    const { address } = (await agent.send('/local/wallet/sign-in')).json.sign_in
    serviceDatabase((database) => database.prepare('DELETE FROM account_wallets WHERE address = ?').run(address))
    relay.cut()
    await eventually(() =>
      expect(agent.connection()).toMatchObject({
        state: 'signed-out',
        detail: expect.stringMatching(/now belongs to a different account|waiting for the owner/),
      }),
    )
  })
})

describe('a service on this computer', () => {
  const dataFolder = temporaryFolder('linked')
  let agent: RunningAgent
  beforeAll(async () => {
    agent = await createRunningAgent({
      dataFolder,
      target: { url: service.url, key: service.key, certificate: undefined },
      now,
    })
  })
  afterAll(() => agent?.close())
  const listLinked = async (): Promise<string[]> =>
    (await service.send('/v1/auth/me')).json.wallets.map((it: { wallet_address: string }) => it.wallet_address)

  test('links the wallet accounts that sign by default', async () => {
    await newPhrase(agent)
    const addresses = () => (['evm', 'solana'] as const).map((chainType) => agent.wallet.account(chainType).address)
    await eventually(async () => expect((await listLinked()).sort()).toEqual(addresses().sort()))
    const [keyring] = (await agent.wallet.status()).keyrings
    if (!keyring) throw new Error('There is no phrase.')
    await agent.wallet.addAccount({ keyringId: keyring.id, chainType: 'evm' })
    const second = (await agent.wallet.status()).keyrings[0]?.accounts.find(
      (wallet) => wallet.chain_type === 'evm' && wallet.address !== agent.wallet.account('evm').address,
    )
    if (!second) throw new Error('There is no second account.')
    expect(await listLinked()).not.toContain(second.address)
    agent.wallet.setDefault(second.id)
    await eventually(async () => expect(await listLinked()).toContain(second.address))
  })

  test('stays connected when a wallet belongs to another account, which the activity log records', async () => {
    const theirs = evmWallet(now)
    await theirs.signIn(service.url)
    await agent.wallet.addPrivateKey({ privateKey: theirs.privateKey, chainType: 'evm', passphrase })
    const account = agent.wallet.accounts().find(({ address }) => address === theirs.address)
    if (!account) throw new Error('The key was not added.')
    agent.wallet.setDefault(account.id)
    await eventually(async () => {
      const { json } = await agent.send('/local/activity?limit=50')
      expect(JSON.stringify(json)).toContain(`${theirs.address} belongs to another account.`)
    })
    expect(agent.connection().state).toBe('connected')
    expect((await agent.send('/v1/sandboxes')).status).toBe(200)
  })
})

test('the application configured with a hosted service starts no service and shows its address', async () => {
  const dataFolder = temporaryFolder('pointed')
  const config = join(dataFolder, 'hosted.json')
  writeFileSync(config, JSON.stringify({ app: { service_url: service.url }, wallet: { secret_store: 'vault_file' } }))
  const steward = await startSteward({ dataFolder, parts: ['--config', config] })
  try {
    expect(steward.serviceUrl).toBe(service.url)
    expect(existsSync(join(dataFolder, 'service.lock'))).toBe(false)
    expect(existsSync(join(dataFolder, 'owner.key'))).toBe(false)
  } finally {
    await steward.close()
  }
})
