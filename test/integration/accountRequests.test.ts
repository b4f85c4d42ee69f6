import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountRequestLimits } from '#shared/contract/accountRequests.ts'
import { evmWallet, type SigningWallet, solanaWallet } from '../support/clients/wallets.ts'
import { createShiftedTime } from '../support/fakes/shiftedTime.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

const day = 24 * 60 * 60_000
let nowMs: number
let service: TestService
/** Credential of the window's requests. */
const person = `sk_steward_${randomBytes(32).toString('base64url')}`

beforeEach(async () => {
  nowMs = 1_800_000_000_000
  service = await runningService({ host: 'none', newWallets: 'ask', personKey: () => person, now: () => nowMs })
})
afterEach(() => service.close())

const newWallet = () => evmWallet(() => nowMs)
const listRequests = async () => (await service.send('/v1/auth/account-requests', { key: person })).json.requests
const decide = (id: string, allow: boolean, key = person) =>
  service.send(`/v1/auth/account-requests/${id}`, { key, body: { allow } })
const requestAccount = async (wallet: SigningWallet): Promise<string> => {
  await wallet.signIn(service.url)
  const requests: { id: string; wallet_address: string }[] = await listRequests()
  return requests.find(({ wallet_address: address }) => address === wallet.address)?.id ?? ''
}

const waits = {
  status: 403,
  json: { code: 'auth/account-requested', hint: expect.stringMatching(/Approvals.*sign in again/) },
}
const denied = { status: 403, json: { code: 'auth/account-denied' } }

test.each([
  ['Ethereum', newWallet, 'evm'],
  ['Solana', () => solanaWallet(() => nowMs), 'solana'],
] as const)('an unknown %s wallet requests once and receives an account after approval', async (_, make, type) => {
  const wallet = make()
  expect(await wallet.signIn(service.url)).toMatchObject(waits)
  expect(await wallet.signIn(service.url)).toMatchObject(waits)
  const requests = await listRequests()
  expect(requests).toMatchObject([
    { wallet_address: wallet.address, wallet_type: type, state: 'waiting', asked_at: '2027-01-15T08:00:00.000Z' },
  ])
  expect(await decide(requests[0].id, true)).toMatchObject({ status: 200, json: { state: 'allowed' } })

  const { status, json } = await wallet.signIn(service.url)
  expect(status).toBe(200)
  const created = await service.send('/v1/auth/api-keys', { key: json.access_token, body: { name: 'agent' } })
  expect(created.status).toBe(201)
  const me = (key: string) => service.send('/v1/auth/me', { key })
  const theirs = await me(created.json.key)
  expect(theirs.json).toMatchObject({ role: 'user', wallet_address: wallet.address })
  expect(theirs.json.id).not.toBe((await me(service.key)).json.id)
})

test('a denied wallet stays denied across a restart until the user allows it', async () => {
  const wallet = newWallet()
  const id = await requestAccount(wallet)
  expect(await decide(id, false)).toMatchObject({ status: 200, json: { state: 'denied' } })
  expect(await wallet.signIn(service.url)).toMatchObject(denied)
  await service.restart()
  expect(await wallet.signIn(service.url)).toMatchObject(denied)
  expect(await listRequests()).toMatchObject([{ id, state: 'denied' }])
  await decide(id, true)
  expect((await wallet.signIn(service.url)).status).toBe(200)
})

test('a denied wallet stays denied while the clock is a year ahead', async () => {
  await service.close()
  const time = createShiftedTime()
  service = await runningService({
    ...{ host: 'none', newWallets: 'ask', personKey: () => person },
    ...{ now: time.now, time: time.source },
  })
  const wallet = evmWallet(time.now)
  await decide(await requestAccount(wallet), false)
  time.set(365 * day)
  expect(await wallet.signIn(service.url)).toMatchObject(denied)
  expect(await listRequests()).toMatchObject([{ wallet_address: wallet.address, state: 'denied' }])
})

test('an approval cannot be denied later, and a repeated decision changes nothing', async () => {
  const wallet = newWallet()
  const id = await requestAccount(wallet)
  await decide(id, true)
  expect((await decide(id, true)).json.state).toBe('allowed')
  expect(await decide(id, false)).toMatchObject({ status: 409, json: { code: 'account-request/decided' } })
  expect((await wallet.signIn(service.url)).status).toBe(200)
})

test('no API key of any account can decide a request', async () => {
  const wallet = newWallet()
  const id = await requestAccount(wallet)
  const program = (await service.send('/v1/auth/api-keys', { body: { name: 'program' } })).json.key
  const otherKey = secondAccount(service.dataDir, { managesAccount: true }).key
  for (const key of [service.key, program, otherKey]) {
    expect(await decide(id, true, key)).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
  }
  const linked = newWallet()
  await service.send('/v1/auth/wallets', { body: await linked.signedMessage(service.url) })
  const { access_token: token } = (await linked.signIn(service.url)).json
  expect((await decide(id, true, token)).status).toBe(403)
  expect(await wallet.signIn(service.url)).toMatchObject(waits)
})

test('another account cannot see the requesters', async () => {
  await newWallet().signIn(service.url)
  const { key } = secondAccount(service.dataDir)
  expect((await service.send('/v1/auth/account-requests', { key })).status).toBe(403)
  expect((await exchange(service.url, '/v1/auth/account-requests', { key: null })).status).toBe(401)
  expect((await service.send('/v1/auth/account-requests')).json.count).toBe(1)
})

test('returns 404 for an unknown id of any form', async () => {
  for (const id of ['areq_000000000000000000000000', 'x']) {
    expect(await decide(id, true)).toMatchObject({ status: 404, json: { code: 'account-request/not-found' } })
  }
})

test('a message with a forged signature creates no request', async () => {
  const wallet = newWallet()
  const forged = { ...(await newWallet().signedMessage(service.url)), signature: await wallet.sign('another text') }
  expect((await exchange(service.url, '/v1/auth/verify', { body: forged })).status).toBe(400)
  expect(await listRequests()).toEqual([])
})

test('many wallets cannot fill the inbox or the table', async () => {
  const first = newWallet()
  const id = await requestAccount(first)
  for (let count = 1; count < accountRequestLimits.waiting; count += 1) await newWallet().signIn(service.url)
  const more = await newWallet().signIn(service.url)
  expect(more).toMatchObject({ status: 429, json: { code: 'request/rate' } })
  expect(Number(more.headers['retry-after'])).toBeGreaterThan(0)
  expect(await listRequests()).toHaveLength(accountRequestLimits.waiting)
  // Earlier requests remain pending and can be decided.
  expect(await first.signIn(service.url)).toMatchObject(waits)
  for (const { id: otherId } of await listRequests()) if (otherId !== id) await decide(otherId, false)
  // the hourly limit equals the limit of pending requests
  expect((await newWallet().signIn(service.url)).status).toBe(429)
  expect((await decide(id, true)).status).toBe(200)
  nowMs += 60 * 60_000
  expect(await newWallet().signIn(service.url)).toMatchObject(waits)
})

test('an undecided request expires after a week and a denial after three months', async () => {
  const forgotten = newWallet()
  const refused = newWallet()
  await forgotten.signIn(service.url)
  await decide(await requestAccount(refused), false)
  nowMs += 8 * day
  expect(await refused.signIn(service.url)).toMatchObject(denied)
  expect(await listRequests()).toMatchObject([{ wallet_address: refused.address }])
  nowMs += 90 * day
  expect(await refused.signIn(service.url)).toMatchObject(waits)
})

test('linking a wallet to an account ends its request', async () => {
  const wallet = newWallet()
  await wallet.signIn(service.url)
  await service.send('/v1/auth/wallets', { body: await wallet.signedMessage(service.url) })
  expect(await listRequests()).toEqual([])
  expect((await wallet.signIn(service.url)).status).toBe(200)
})

test('the user’s key works only while the application runs', async () => {
  const me = await service.send('/v1/auth/me', { key: person })
  expect(me.json).toMatchObject({ role: 'owner', api_key: { name: 'Owner key' } })
  await service.close()
  service = await runningService({ host: 'none', dataDir: service.dataDir, newWallets: 'ask' })
  expect((await service.send('/v1/auth/me', { key: person })).status).toBe(401)
})
