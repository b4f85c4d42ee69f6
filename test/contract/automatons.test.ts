import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { WalletName } from '#service/auth/walletRepository.ts'
import { createAutomatonNonces } from '#service/automatons/automatonNonces.ts'
import { createAutomatons } from '#service/automatons/automatons.ts'
import { AppError } from '#shared/appError.ts'
import { automatonLimits, registerTypedData } from '#shared/contract/automatons.ts'
import { AccountId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import { createProfile, type RegistrationBody, signRegistration } from '../support/clients/signRegistration.ts'
import { openServiceStore } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** Registrations of automatons and their nonces, on both engines of the store. */
describeStores('automatons', (engine) => {
  test('a repeated registration returns the first record and is announced once', async () => {
    const { register, automatons, admitted, announced } = await open(engine)
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const record = await register(body)
    expect(record).toMatchObject({ sentId: body.automaton_id, name: 'Ada', nonce: body.nonce, createdAtMs: start })
    expect(await register({ ...body, automaton_id: body.automaton_id })).toEqual(record)
    expect(await automatons.get(body.automaton_id.replaceAll('-', '').toUpperCase())).toEqual(record)
    expect([admitted(), announced]).toEqual([1, [`identity.registered ${ada}`]])
    await expect(automatons.get('a'.repeat(32))).rejects.toMatchObject({ code: 'identity/not-found' })
  })

  test('of 20 concurrent automatons with one nonce, one is registered', async () => {
    const { register, admitted, count } = await open(engine)
    const account = newAccount()
    const bodies = await Promise.all(
      Array.from({ length: 20 }, () => signRegistration(account, createProfile(account.address), { nonce: 'shared' })),
    )
    expect(await countOutcomes(bodies.map(register))).toEqual({ registered: 1, 'identity/nonce-used': 19 })
    expect(await count()).toEqual({ automatons: 1, nonces: 1 })
    expect(admitted()).toBeGreaterThanOrEqual(1)
  })

  test('of 20 concurrent profiles with one id, one is registered', async () => {
    const { register, count, announced } = await open(engine)
    const account = newAccount()
    const profile = createProfile(account.address)
    const bodies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => signRegistration(account, { ...profile, name: `Ada ${index}` })),
    )
    expect(await countOutcomes(bodies.map(register))).toEqual({ registered: 1, 'identity/immutable': 19 })
    expect(await count()).toEqual({ automatons: 1, nonces: 1 })
    expect(announced).toHaveLength(1)
  })

  test('20 concurrent equal registrations return one record', async () => {
    const { register, count, announced } = await open(engine)
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const records = await Promise.all(Array.from({ length: 20 }, () => register(body)))
    expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(1)
    expect(await count()).toEqual({ automatons: 1, nonces: 1 })
    expect(announced).toHaveLength(1)
  })

  test('a refused registration leaves its nonce unused', async () => {
    const { register, automatons, count } = await open(engine)
    const account = newAccount()
    const body = await signRegistration(account, createProfile(account.address))
    const refuse = () => {
      throw new AppError('request/rate', 'Too many automatons.')
    }
    await expect(automatons.register(body, refuse)).rejects.toMatchObject({ code: 'request/rate' })
    expect(await count()).toEqual({ automatons: 0, nonces: 0 })
    await register(body)
    expect(await count()).toEqual({ automatons: 1, nonces: 1 })
  })

  test('a text with U+0000 is registered, returned and compared as sent', async () => {
    const { register, automatons } = await open(engine)
    const account = newAccount()
    const texts = { name: 'A\0da', bio: '\u0001json:"\0"' }
    const profile = createProfile(account.address, texts)
    const body = await signRegistration(account, profile, { nonce: 'non\0ce' })
    expect(await register(body)).toMatchObject(texts)
    expect(await automatons.get(profile.automaton_id)).toMatchObject({ ...texts, nonce: 'non\0ce' })
    const renamed = await signRegistration(account, { ...profile, name: 'A\u0001da' })
    await expect(register(renamed)).rejects.toMatchObject({ code: 'identity/immutable' })
    const another = await signRegistration(account, createProfile(account.address), { nonce: 'non\0ce' })
    await expect(register(another)).rejects.toMatchObject({ code: 'identity/nonce-used' })
  })

  test('a bound nonce is limited to its creator, its automaton and an hour', async () => {
    const { register, automatons, clock } = await open(engine)
    const account = newAccount()
    const profile = createProfile(account.address, { creator_address: creator.address })
    const bound = await automatons.bindNonce(caller, profile.automaton_id)
    expect(bound).toEqual({
      nonce: expect.stringMatching(/^bound_[0-9a-f]{32}$/),
      expiresAtMs: start + automatonLimits.boundNonceMs,
      creatorAddress: creator.address,
    })
    const { nonce } = bound
    const stranger = await signRegistration(account, createProfile(account.address), { nonce })
    await expect(register(stranger)).rejects.toMatchObject({ code: 'identity/nonce-bound' })
    const sibling = createProfile(account.address, { creator_address: creator.address })
    const other = await signRegistration(account, sibling, { nonce })
    await expect(register(other)).rejects.toMatchObject({ code: 'identity/nonce-bound' })
    clock.nowMs += automatonLimits.boundNonceMs
    const late = await signRegistration(account, profile, { nonce })
    await expect(register(late)).rejects.toMatchObject({ code: 'identity/nonce-used' })
    await automatons.bindNonce(caller, undefined) // deletes the expired one
    await expect(register(late)).rejects.toMatchObject({ code: 'identity/nonce-used' })
  })

  test('a creator has at most a hundred open nonces, of which the last expire last', async () => {
    const { automatons, register, count, clock } = await open(engine)
    const first = await automatons.bindNonce(caller, undefined)
    clock.nowMs += 1
    const later: string[] = []
    for (let index = 0; index < 100; index += 1) later.push((await automatons.bindNonce(caller, undefined)).nonce)
    expect(await count()).toEqual({ automatons: 0, nonces: 100 })
    const account = newAccount()
    const sign = (nonce: string) =>
      signRegistration(account, createProfile(account.address, { creator_address: creator.address }), { nonce })
    await expect(register(await sign(first.nonce))).rejects.toMatchObject({ code: 'identity/nonce-used' })
    for (const nonce of [later[0], later[99]]) await register(await sign(nonce ?? ''))
  })

  test('lists own automatons and those of bound nonces, then those that only name the account', async () => {
    const { automatons, register, clock } = await open(engine)
    const byCreator = { creator_address: creator.address.toLowerCase() }
    const [bound, named, own] = [newAccount(), newAccount(), creator]
    const register1 = async (account: typeof bound, fields: object, nonce?: string) => {
      clock.nowMs += 1
      const options = nonce === undefined ? {} : { nonce }
      const body = await signRegistration(account, createProfile(account.address, fields), options)
      return (await register(body)).sentId
    }
    const { nonce } = await automatons.bindNonce(caller, undefined)
    const ids = [
      await register1(bound, byCreator, nonce),
      await register1(named, byCreator),
      await register1(own, { creator_address: bound.address }),
      await register1(bound, {}),
    ]
    const listed = (await automatons.ofAccount(ada)).map(({ sentId }) => sentId)
    expect(listed).toEqual([ids[2], ids[0], ids[1]])
    expect(await automatons.ofAccount(bob)).toEqual([])
  })
})

const [ada, bob] = ['a', 'b'].map((letter) => AccountId.parse(letter.repeat(32))) as [AccountId, AccountId]
const creator = privateKeyToAccount(generatePrivateKey())
const newAccount = () => privateKeyToAccount(generatePrivateKey())
const caller = { accountId: ada, wallet: undefined }
const start = 1_000_000

const counts = defineStatement(
  `SELECT (SELECT count(*) FROM automatons) AS automatons, (SELECT count(*) FROM automaton_nonces) AS nonces`,
).withRows((row) => ({ automatons: Number(row.automatons), nonces: Number(row.nonces) }))

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  const clock = { nowMs: start }
  const now = () => clock.nowMs
  const announced: string[] = []
  const wallet = { accountId: ada, type: 'evm' as const, address: creator.address, linkedAtMs: 1, linkedBy: null }
  let admitted = 0
  const automatons = createAutomatons({
    store,
    nonces: createAutomatonNonces({ store, now, randomBytes }),
    wallets: {
      find: async ({ type, address }: WalletName) => ({ ...wallet, type, address }),
      list: async (accountId: AccountId) => (accountId === ada ? [wallet] : []),
    },
    domainName: registerTypedData.defaultDomainName,
    publish: () => {},
    recordForAccount: (accountId, { type }) => void announced.push(`${type} ${accountId}`),
    now,
  })
  const register = (body: RegistrationBody) =>
    automatons.register(body, () => {
      admitted += 1
    })
  return { automatons, clock, announced, register, admitted: () => admitted, count: () => store.read.first(counts) }
}

async function countOutcomes(registrations: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  for (const settled of await Promise.allSettled(registrations)) {
    const name = settled.status === 'fulfilled' ? 'registered' : String(settled.reason.code)
    outcomes[name] = (outcomes[name] ?? 0) + 1
  }
  return outcomes
}
