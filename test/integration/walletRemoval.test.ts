import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * Work and credentials of a wallet end with it: sign-ins at a real service, and pending requests and remembered
 * approvals of a real agent.
 */
let service: TestService
let agent: RunningAgent
const dataFolder = temporaryFolder('removal')
const passphrase = 'several plain words'

const target = () => ({ url: service.url, key: service.key, certificate: undefined })
beforeAll(async () => {
  service = await runningService({ host: 'none', payments: { facilitator: { kind: 'test-ledger' } } })
  agent = await createRunningAgent({ dataFolder, target: target() })
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})
beforeEach(async () => {
  for (const { id, label } of (await agent.wallet.status()).keyrings) {
    await agent.wallet.remove(id, { typedLabel: label, passphrase, unlinksAll: true })
  }
  await eventually(async () => expect(await listLinked()).toEqual([]))
})

const listLinked = async (): Promise<string[]> =>
  (await service.send('/v1/auth/me')).json.wallets.map((it: { wallet_address: string }) => it.wallet_address)
const add = (privateKey: string) => agent.wallet.addPrivateKey({ privateKey, chainType: 'evm', passphrase })
const remove = (id: Parameters<typeof agent.wallet.remove>[0], unlinksAll = false) =>
  agent.wallet.remove(id, { typedLabel: 'Key 1', passphrase, unlinksAll })
async function restartAway(): Promise<void> {
  await agent.close()
  agent = await createRunningAgent({ dataFolder })
}

test('a removed key that Steward linked no longer signs in as the owner', async () => {
  const wallet = evmWallet()
  const { id } = await add(wallet.privateKey)
  await eventually(async () => expect(await listLinked()).toEqual([wallet.address]))
  const signedIn = (await wallet.signIn(service.url)).json.access_token
  expect((await service.send('/v1/auth/me', { key: signedIn })).json.role).toBe('owner')
  await remove(id)
  await eventually(async () => expect(await listLinked()).toEqual([]))
  expect((await service.send('/v1/auth/me', { key: signedIn })).status).toBe(401)
  const again = (await wallet.signIn(service.url)).json.access_token
  expect((await service.send('/v1/auth/me', { key: again })).json.role).toBe('user')
})

test('the activity log names a wallet linked by a removed key', async () => {
  const [wallet, other] = [evmWallet(), evmWallet()]
  const { id } = await add(wallet.privateKey)
  await eventually(async () => expect(await listLinked()).toEqual([wallet.address]))
  const { access_token: token } = (await wallet.signIn(service.url)).json
  const body = await other.signedMessage(service.url)
  expect((await service.send('/v1/auth/wallets', { key: token, body })).status).toBe(201)
  await remove(id)
  const summary = `The removed wallet ${wallet.address} linked other wallets, which still sign in to your account at This computer: ${other.address}. In Settings, unlink any that you don't recognize.`
  await eventually(async () => {
    const { entries } = (await agent.send('/local/activity?limit=20')).json
    expect(entries.map((entry: { summary: string }) => entry.summary)).toContain(summary)
  })
  expect(await listLinked()).toEqual([other.address])
  expect((await service.send(`/v1/auth/wallets/${other.address}`, { method: 'DELETE' })).status).toBe(200)
})

test('unlinks at the next connection a key removed while disconnected, even after a restart', async () => {
  const wallet = evmWallet()
  const { id } = await add(wallet.privateKey)
  await eventually(async () => expect(await listLinked()).toEqual([wallet.address]))
  await restartAway()
  await agent.wallet.unlock(passphrase)
  await remove(id)
  await restartAway()
  expect(await listLinked()).toEqual([wallet.address])
  agent.connect(target())
  await eventually(async () => expect(await listLinked()).toEqual([]))
})

test('a key linked by the user stays linked unless the removal unlinks it', async () => {
  for (const unlinksAll of [false, true]) {
    const wallet = evmWallet()
    const signed = await wallet.signedMessage(service.url)
    expect((await service.send('/v1/auth/wallets', { body: signed })).status).toBe(201)
    const { id } = await add(wallet.privateKey)
    await eventually(async () =>
      expect((await agent.send('/local/wallet/links')).json.links).toContainEqual(
        expect.objectContaining({ address: wallet.address, linked: true, by_steward: false }),
      ),
    )
    await remove(id, unlinksAll)
    await eventually(async () => expect((await listLinked()).includes(wallet.address)).toBe(!unlinksAll))
    await agent.send(`/local/wallet/links/${wallet.address}`, { method: 'DELETE' })
  }
})

test('a wallet unlinked by the user stays unlinked until relinked in Steward', async () => {
  const wallet = evmWallet()
  const { accounts } = await add(wallet.privateKey)
  await eventually(async () => expect(await listLinked()).toEqual([wallet.address]))
  await eventually(async () => expect((await agent.send('/local/wallet/links')).json.links[0]?.by_steward).toBe(true))
  expect((await service.send(`/v1/auth/wallets/${wallet.address}`, { method: 'DELETE' })).status).toBe(200)
  const countRequests = () => agent.approvals.list({ limit: 200 }).intents.filter(({ kind }) => kind === 'siwe').length
  const before = countRequests()
  for (let turn = 0; turn < 2; turn += 1) {
    agent.wallet.lock()
    await agent.wallet.unlock(passphrase)
    const { links } = (await agent.send('/local/wallet/links')).json
    expect(links).toMatchObject([{ address: wallet.address, linked: false, account_id: accounts[0]?.id }])
  }
  await restartAway()
  agent.connect(target())
  await agent.wallet.unlock(passphrase)
  await eventually(async () => expect((await agent.send('/local/wallet/links')).status).toBe(200))
  expect([await listLinked(), countRequests()]).toEqual([[], before])

  const added = await agent.send('/local/wallet/links', { body: { account_id: accounts[0]?.id } })
  expect(added.status, added.text).toBe(201)
  expect(added.json.links).toMatchObject([{ address: wallet.address, linked: true, by_steward: true }])
  const removed = await agent.send(`/local/wallet/links/${wallet.address}`, { method: 'DELETE' })
  expect(removed.json.links).toMatchObject([{ address: wallet.address, linked: false }])
  agent.wallet.lock()
  await agent.wallet.unlock(passphrase)
  expect((await agent.send('/local/wallet/links')).json.links).toMatchObject([{ linked: false }])
  expect(await listLinked()).toEqual([])
})

test('denies waiting requests of a removed account with a reason and permanently ends its grants', async () => {
  const wallet = evmWallet()
  const { id, accounts } = await add(wallet.privateKey)
  agent.approvals.changePolicy({
    ...{ rules: [rule({ effect: 'ask', kind: 'x402.authorize' })], confirm_above_micro_usd: '100000000' },
    expiry_minutes: 60,
  })
  const pay = (nonce: number) =>
    agent.send('/local/intents', {
      body: {
        intent: {
          ...{ kind: 'x402.authorize', network: 'base', pay_to: `0x${String(nonce).repeat(40)}`, amount: '5000000' },
          resource: `https://shop${nonce}.example/report`,
        },
      },
    })
  const granted = await pay(1)
  const approved = await agent.send(`/local/intents/${granted.json.id}/decision`, {
    body: { approve: true, grant: { times: 5 } },
  })
  expect(approved.json.state, approved.text).toBe('signed')
  const response = await pay(2)
  expect(response.status, response.text).toBe(201)
  const waiting = response.json
  expect([waiting.state, agent.approvals.grants().length]).toEqual(['waiting', 1])

  await remove(id)
  const after = (await agent.send(`/local/intents/${waiting.id}`)).json
  expect(after).toMatchObject({ state: 'denied', error: 'You removed “Key 1” from the wallet.' })
  expect((await agent.send('/local/grants')).json.grants).toEqual([])
  expect((await agent.send(`/local/intents/${waiting.id}/decision`, { body: { approve: true } })).status).toBe(409)

  const again = await add(wallet.privateKey)
  expect(again.accounts[0]?.id).toBe(accounts[0]?.id)
  expect((await agent.send('/local/grants')).json.grants).toEqual([])
  expect((await pay(1)).json).toMatchObject({ state: 'waiting', account_id: accounts[0]?.id })
  expect((await agent.send(`/local/intents/${granted.json.id}`)).json).toMatchObject({
    ...{ state: 'signed', account_id: accounts[0]?.id },
  })
})
