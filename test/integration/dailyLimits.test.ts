import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProfile, type RegistrationBody, signRegistration } from '../support/clients/signRegistration.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { type Answer, exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Anonymous resources, which a service limits per network and day. */
let service: TestService
let nowMs = 1_800_000_000_000
const now = () => nowMs
const dayMs = 86_400_000

beforeAll(async () => {
  service = await runningService({
    host: 'none',
    insecureBehindProxy: true,
    newWallets: 'welcome',
    rateLimits: { newAutomatonsPerDay: 2, newAccountsPerDay: 2, noncesPerDay: 4 },
    now,
  })
})
afterAll(() => service?.close())

const newBody = (): Promise<RegistrationBody> => {
  const account = privateKeyToAccount(generatePrivateKey())
  return signRegistration(account, createProfile(account.address))
}
const from = (address: string) => ({ 'x-forwarded-for': address })
const register = (body: RegistrationBody, address: string, key: string | null = null): Promise<Answer> =>
  exchange(service.url, '/v1/automatons/register', { body, key, headers: from(address) })
const refusal = (error: string, seconds: number) => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
  json: { error, code: 'request/rate', hint: expect.any(String) },
})

test('automatons: limits registrations per network and resets the limit after a day', async () => {
  const [first, second] = [await newBody(), await newBody()]
  const [one, other] = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2'] // two addresses in the same network
  expect((await register(first, one)).status).toBe(200)
  nowMs += 1000
  expect((await register({ ...(await newBody()), name: 'Not signed' }, one)).status, 'nothing is counted').toBe(400)
  expect((await register(second, other)).status).toBe(200)

  const third = await newBody()
  const tooMany = 'Too many automaton registrations from this network today.'
  expect(await register(third, one)).toMatchObject(refusal(tooMany, 86_399))
  expect((await register(first, other)).status, 'one that is known').toBe(200)
  expect((await register({ ...first, name: 'Another' }, other)).json.code).toBe('identity/hash')
  expect((await register(await newBody(), '2001:db8:0:2::1')).status).toBe(200)
  expect((await register(await newBody(), one, service.key)).status, 'the owner').toBe(200)
  nowMs += dayMs
  expect((await register(third, one)).status, 'its nonce was not spent').toBe(200)
})

test('counts nonces for sign-ins and registrations against one limit', async () => {
  const requestNonce = () => exchange(service.url, '/auth/nonce', { method: 'POST', headers: from('10.0.0.1') })
  const { access_token: key } = (await evmWallet(now).signIn(service.url)).json // from another network
  const readLimit = () =>
    exchange(service.url, '/v1/automatons/nonce', { method: 'POST', key, headers: from('10.0.0.1'), body: {} })
  const statuses = [await requestNonce(), await readLimit(), await requestNonce(), await requestNonce()].map(
    ({ status }) => status,
  )
  expect(statuses).toEqual([200, 200, 200, 200])
  const tooMany = refusal('Too many nonces for this network today.', 86_400)
  expect(await requestNonce()).toMatchObject(tooMany)
  expect(await readLimit()).toMatchObject(tooMany)
  nowMs += dayMs
  expect((await requestNonce()).status).toBe(200)
})

test('limits new wallet accounts per network without limiting sign-ins to existing accounts', async () => {
  nowMs += dayMs
  const [ada, ben, cy] = [evmWallet(now), evmWallet(now), evmWallet(now)]
  const signIn = async (wallet: typeof ada) =>
    exchange(service.url, '/auth/verify', { body: await wallet.signedMessage(service.url), headers: from('10.0.0.2') })
  expect([(await signIn(ada)).status, (await signIn(ben)).status]).toEqual([200, 200])
  expect(await signIn(cy)).toMatchObject(refusal('Too many new accounts from this network today.', 86_400))
  expect((await signIn(ada)).status).toBe(200)
})
