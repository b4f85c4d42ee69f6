import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { accountRepository } from '#service/accounts/accountRepository.ts'
import { createApiKeys } from '#service/accounts/apiKeys.ts'
import { createRecordedWrite } from '#service/activity/recordedWrite.ts'
import { createAccessTokens } from '#service/auth/accessTokens.ts'
import { accountRequestRepository } from '#service/auth/accountRequestRepository.ts'
import { createAccountRequests } from '#service/auth/accountRequests.ts'
import { createLinkedWallets } from '#service/auth/linkedWallets.ts'
import { createNewAccounts } from '#service/auth/newAccounts.ts'
import { refreshTokenRepository } from '#service/auth/refreshTokenRepository.ts'
import type { SignInChecks } from '#service/auth/signInChecks.ts'
import { createSignIns, type NewWallets } from '#service/auth/signIns.ts'
import { toWalletKey, type WalletName, walletRepository } from '#service/auth/walletRepository.ts'
import type { Caller } from '#service/base/endpoint.ts'
import { createServicePrincipals } from '#service/base/principals.ts'
import { AppError } from '#shared/appError.ts'
import { authLimits, type Tokens } from '#shared/contract/auth.ts'
import { AccountId } from '#shared/ids.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [ada, bob] = [AccountId.parse('acct_ada'), AccountId.parse('acct_bob')]
const [first, second] = [
  wallet('0xAa00000000000000000000000000000000000001'),
  wallet('0xBb00000000000000000000000000000000000002'),
]

/** Sign-ins, linked wallets and account requests, on both engines of the store. */
describeStores('sign-ins', (engine) => {
  test('the first sign-in of a wallet creates its account, later ones use it', async () => {
    const { store, signIn, access, feed } = await open(engine)
    const caller = await access.identify((await signIn(first)).access_token)
    const again = await access.identify((await signIn({ ...first, address: first.address.toLowerCase() })).access_token)
    expect(caller).toMatchObject({ owner: false, managesAccount: true, wallet: first })
    expect(again?.accountId).toBe(caller?.accountId)
    expect(again?.principal).not.toBe(caller?.principal)
    const accountId = requireAccount(caller)
    expect(await walletRepository.list(store.read, accountId)).toEqual([
      { ...first, accountId, linkedAtMs: 1_000_000, linkedBy: null },
    ])
    expect(await feed(accountId)).toEqual(['account.created', 'auth.signed_in', 'auth.signed_in'])
  })

  test('10 parallel first sign-ins of one wallet create one account', async () => {
    const { store, signIn, access } = await open(engine)
    const tokens = await Promise.all(Array.from({ length: 10 }, () => signIn(first)))
    const callers = await Promise.all(tokens.map((it) => access.identify(it.access_token)))
    expect(new Set(callers.map((it) => it?.accountId)).size).toBe(1)
    expect(new Set(callers.map((it) => it?.principal)).size).toBe(10)
    expect(await store.read.first(countAccounts)).toBe(3) // with Ada and Bob
  })

  test('a sign-in that is not admitted leaves nothing', async () => {
    const { store, signIn } = await open(engine)
    const refuse = () => {
      throw new AppError('request/rate', 'Too many new accounts from this network today.')
    }
    await expect(signIn(first, refuse)).rejects.toMatchObject({ code: 'request/rate' })
    expect([await store.read.first(countAccounts), await walletRepository.find(store.read, first)]).toEqual([
      2,
      undefined,
    ])
  })

  test('a refresh token is exchanged for one that works', async () => {
    const { signIn, signIns, access } = await open(engine)
    const tokens = await signIn(first)
    const next = await signIns.refresh(tokens.refresh_token)
    const [caller, refreshed] = await Promise.all([tokens, next].map((it) => access.identify(it.access_token)))
    expect(refreshed?.principal).toBe(caller?.principal)
    expect((await signIns.refresh(next.refresh_token)).token_type).toBe('Bearer')
  })

  test('of 20 parallel exchanges of a refresh token, one wins, and the reuse ends the sign-in', async () => {
    const { signIn, signIns, access, principals, feed } = await open(engine)
    const tokens = await signIn(first)
    const caller = await access.identify(tokens.access_token)
    const accountId = requireAccount(caller)
    const lease = await principals.lease(caller?.principal ?? 'none:', 'request')
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => signIns.refresh(tokens.refresh_token)))
    const issued = results.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
    const codes = results.flatMap((it) => (it.status === 'rejected' ? [(it.reason as AppError).code] : []))
    expect([issued.length, new Set(codes)]).toEqual([1, new Set(['auth/refresh'])])
    await expect(signIns.refresh(issued[0]?.refresh_token ?? '')).rejects.toMatchObject({ code: 'auth/refresh' })
    expect(await access.identify(issued[0]?.access_token ?? '')).toBeUndefined()
    expect(lease.error?.message).toBe('This sign-in has ended.')
    expect((await feed(accountId)).filter((it) => it === 'auth.refused_reuse')).toHaveLength(1)
  })

  test('parallel exchanges of 20 wallets do not disturb each other', async () => {
    const { signIn, signIns } = await open(engine)
    const signedIn = await Promise.all(Array.from({ length: 20 }, (_, index) => signIn(walletAt(index))))
    const refreshed = await Promise.all(signedIn.map((it) => signIns.refresh(it.refresh_token)))
    expect(new Set(refreshed.map((it) => it.refresh_token)).size).toBe(20)
  })

  test('an expired refresh token is refused and removed', async () => {
    const { clock, store, signIn, signIns } = await open(engine)
    const tokens = await signIn(first)
    clock.nowMs += authLimits.refreshMs
    await expect(signIns.refresh(tokens.refresh_token)).rejects.toMatchObject({ code: 'auth/refresh' })
    expect(await store.read.first(countTokens)).toBe(0)
  })

  test('signing out twice in parallel ends the sign-in once', async () => {
    const { signIn, signIns, access, feed } = await open(engine)
    const tokens = await signIn(first)
    const accountId = requireAccount(await access.identify(tokens.access_token))
    await Promise.all([signIns.end(tokens.refresh_token), signIns.end(tokens.refresh_token)])
    expect(await access.identify(tokens.access_token)).toBeUndefined()
    expect((await feed(accountId)).filter((it) => it === 'auth.signed_out')).toHaveLength(1)
    await signIns.end('srt_unknown')
  })

  test('of two accounts that link one wallet in parallel, one gets it', async () => {
    const { store, link } = await open(engine)
    const results = await Promise.allSettled([link(ada, first), link(bob, first)])
    const codes = results.map((it) => (it.status === 'rejected' ? (it.reason as AppError).code : 'linked'))
    expect(codes.toSorted()).toEqual(['auth/wallet-linked', 'linked'])
    const winner = codes[0] === 'linked' ? ada : bob
    expect((await walletRepository.find(store.read, first))?.accountId).toBe(winner)
  })

  test('a sign-in that ended links no wallet', async () => {
    const { store, signIn, signIns, access, linked } = await open(engine)
    const tokens = await signIn(first)
    const caller = (await access.identify(tokens.access_token)) as Caller
    await signIns.end(tokens.refresh_token)
    await expect(linked(caller, second)).rejects.toMatchObject({ code: 'auth/invalid' })
    expect(await walletRepository.find(store.read, second)).toBeUndefined()
  })

  test('two parallel removals leave an account its last wallet', async () => {
    const { store, link, wallets } = await open(engine)
    await link(ada, first)
    await link(ada, second)
    const caller = { accountId: ada, owner: false } as Caller
    const removals = [first, second].map(({ address }) => wallets.unlink(caller, address))
    const results = await Promise.allSettled(removals)
    const codes = results.map((it) => (it.status === 'rejected' ? (it.reason as AppError).code : it.value.remaining))
    expect(new Set(codes)).toEqual(new Set([1, 'auth/forbidden']))
    expect(await walletRepository.list(store.read, ada)).toHaveLength(1)
  })

  test('a key that is created while its wallet is unlinked does not outlive the wallet', async () => {
    const { store, signIn, access, keys, wallets, link, principals } = await open(engine)
    for (let round = 0; round < 5; round += 1) {
      const signing = walletAt(round)
      const caller = (await access.identify((await signIn(signing)).access_token)) as Caller
      await link(caller.accountId, walletAt(100 + round))
      const issuer = { wallet: toWalletKey(signing), signIn: caller.principal.slice('sign-in:'.length) }
      const assertAllowed = principals.assertPresent
      const create = (name: string) =>
        keys
          .create(caller.accountId, name, { issuer, assertAllowed: (tx) => assertAllowed(tx, caller.principal) })
          .then(({ key }) => key)
          .catch((error: unknown) => (error instanceof AppError ? error.code : String(error)))
      const early = Array.from({ length: 5 }, (_, index) => create(`early ${index}`))
      const unlinking = wallets.unlink(caller, signing.address)
      const late = Array.from({ length: 5 }, (_, index) => create(`late ${index}`))
      const [{ revokedKeys }, ...created] = await Promise.all([unlinking, ...early, ...late])
      expect(await keys.list(caller.accountId)).toEqual([])
      const secrets = created.filter((it) => it !== 'auth/invalid')
      expect(revokedKeys).toHaveLength(secrets.length)
      expect(await Promise.all(secrets.map(keys.identify))).toEqual(secrets.map(() => undefined))
      expect(await access.identify((await signIn(walletAt(100 + round))).access_token)).toBeDefined()
    }
    expect(await store.read.first(countTokens)).toBe(10)
  })

  test('20 parallel sign-ins of an unknown wallet make one request', async () => {
    const { store, signIn, feed, changes } = await open(engine, 'ask')
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => signIn(first)))
    const codes = results.map((it) => (it.status === 'rejected' ? (it.reason as AppError).code : 'signed in'))
    expect(new Set(codes)).toEqual(new Set(['auth/account-requested']))
    expect(await accountRequestRepository.list(store.read, 10)).toEqual([
      { id: expect.any(String), wallet: first, state: 'waiting', askedAtMs: 1_000_000, decidedAtMs: null },
    ])
    expect([await feed(ada), changes.count]).toEqual([['account.requested'], 1])
  })

  test('two parallel decisions of one request create one account', async () => {
    const { store, signIn, requests, access } = await open(engine, 'ask')
    await signIn(first).catch(() => {})
    const [request] = await requests.list(10)
    const decide = () => requests.decide(request?.id ?? '', true)
    expect(await Promise.all([decide(), decide()])).toEqual(
      Array.from({ length: 2 }, () => ({ ...request, state: 'allowed', decidedAtMs: 1_000_000 })),
    )
    expect(await store.read.first(countAccounts)).toBe(3)
    expect((await access.identify((await signIn(first)).access_token))?.wallet).toEqual(first)
  })

  test('a wallet that gets linked withdraws its request', async () => {
    const { signIn, requests, link } = await open(engine, 'ask')
    await signIn(first).catch(() => {})
    await link(bob, first)
    expect(await requests.list(10)).toEqual([])
  })

  test('lists waiting requests before decided ones, and trims old ones', async () => {
    const { clock, signIn, requests } = await open(engine, 'ask')
    for (let index = 0; index < 3; index += 1) {
      clock.nowMs += 1_000
      await signIn(walletAt(index)).catch(() => {})
    }
    const newest = (await requests.list(10))[0]
    await requests.decide(newest?.id ?? '', false)
    expect((await requests.list(10)).map(({ wallet, state }) => [wallet.address, state])).toEqual([
      [walletAt(1).address, 'waiting'],
      [walletAt(0).address, 'waiting'],
      [walletAt(2).address, 'denied'],
    ])
    expect(await requests.list(1)).toHaveLength(1)
    await expect(signIn(walletAt(2))).rejects.toMatchObject({ code: 'auth/account-denied' })
    await expect(requests.decide('areq_none', true)).rejects.toMatchObject({ code: 'account-request/not-found' })
    clock.nowMs += 400 * 86_400_000
    expect(await requests.list(10)).toEqual([])
  })

  test('an activity is announced after the commit, and not for a change that is rolled back', async () => {
    const { store, write, announced, feed } = await open(engine)
    const entry = { type: 'auth.signed_in', description: 'Signed in.' } as const
    const failed = write(async (_, record) => {
      await record(ada, entry)
      throw new Error('taken back')
    })
    await expect(failed).rejects.toThrow('taken back')
    expect([announced, await feed(ada)]).toEqual([[], []])
    await write(async (_, record) => {
      await record(ada, entry)
      await record(ada, entry)
      await record(AccountId.parse('acct_none'), entry)
      expect(announced).toEqual([])
    })
    expect(announced).toEqual([1, 2].map((sequence) => ({ accountId: ada, sequence })))
    expect(await accountRepository.hasAccount(store.read, 'acct_none')).toBe(false)
  })
})

const countAccounts = defineStatement('SELECT count(*) AS count FROM accounts').withRows((row) => Number(row.count))
const countTokens = defineStatement('SELECT count(*) AS count FROM refresh_tokens').withRows((row) => Number(row.count))
const listFeed = defineStatement<Params<'accountId'>>(
  'SELECT type FROM account_activities WHERE account_id = @accountId ORDER BY sequence',
).withRows((row) => String(row.type))

function wallet(address: string): WalletName {
  return { type: 'evm', address }
}

function walletAt(index: number): WalletName {
  return wallet(`0xCc${String(index).padStart(38, '0')}`)
}

function requireAccount(caller: Caller | undefined): AccountId {
  if (!caller) throw new Error('The token is not valid.')
  return caller.accountId
}

/** Ada owns the service. Every signature is valid. */
async function open(engine: StoreEngine, newWallets: NewWallets = 'welcome') {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada, bob)
  const clock = { nowMs: 1_000_000 }
  const now = () => clock.nowMs
  const announced: { accountId: AccountId; sequence: number }[] = []
  const changes = { count: 0 }
  const write = createRecordedWrite({
    ...{ store, now, onRecorded: (entry) => void announced.push(entry) },
    newId: () => randomBytes(8).toString('hex'),
    by: () => ({ kind: 'service', name: null }),
    task: () => null,
  })
  const findRights = (familyId: string, tx?: Parameters<Parameters<Store['write']>[0]>[0]) =>
    refreshTokenRepository.findRights(tx ?? store.read, familyId)
  const access = createAccessTokens({ secret: randomBytes(32), findRights, now })
  const keys = createApiKeys({ store, now, randomBytes })
  const principals = createServicePrincipals({ now, log: silentLog })
  principals.close() // stops the timer
  principals.add('sign-in', findRights)
  const created = createNewAccounts({ accounts: accountRepository, now, randomBytes })
  const requests = createAccountRequests({
    ...{ store, writeRecorded: write, owner: ada, created, now, randomBytes },
    onChanged() {
      changes.count += 1
    },
  })
  const checks: SignInChecks = { verify: async ({ message }) => wallet(message) }
  const signIns = createSignIns({
    ...{ checks, store, writeRecorded: write, accounts: accountRepository, access, newWallets, created, requests },
    ...{ principals, now, randomBytes },
  })
  const wallets = createLinkedWallets({ checks, writeRecorded: write, requests, keys, principals, now })
  const sign = ({ address }: WalletName) => ({ message: address, signature: '', chainType: 'evm' as const, host: '' })
  return {
    ...{ store, clock, write, announced, changes, access, keys, principals, requests, signIns, wallets },
    signIn: (name: WalletName, admitNew = () => {}): Promise<Tokens> => signIns.verify(sign(name), admitNew),
    link: (accountId: AccountId, name: WalletName) =>
      wallets.link({ accountId, wallet: undefined } as Caller, sign(name), async () => {}),
    linked: (caller: Caller, name: WalletName) =>
      wallets.link(caller, sign(name), (tx) => principals.assertPresent(tx, caller.principal)),
    feed: (accountId: AccountId) => store.read.all(listFeed, { accountId }),
  }
}
