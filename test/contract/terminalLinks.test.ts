import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createTerminalLinks, linkSeconds } from '#service/terminals/terminalLinks.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('acc_ada')
const sandboxId = SandboxId.parse('a'.repeat(32))
const key = { accountId: ada, principal: 'key:key_1' } as const
const signIn = { accountId: ada, principal: 'sign-in:family' } as const

/** Terminal links on both engines of the store. */
describeStores('terminal links', (engine) => {
  test('a link identifies its sandbox and the key that issued it, on each use', async () => {
    const { links } = await open(engine)
    const { token, expiresAtMs } = await links.create(key, sandboxId)
    expect([token, expiresAtMs]).toEqual([expect.stringMatching(/^stl_/), 1_000 + linkSeconds * 1000])
    const callers = await Promise.all(Array.from({ length: 20 }, () => links.identify(token)))
    for (const caller of callers) {
      expect(caller).toEqual({
        ...{ accountId: ada, principal: expect.stringMatching(/^link:[0-9a-f]{64}$/), onlySandbox: sandboxId },
        ...{ owner: false, managesAccount: false, keyId: undefined, wallet: undefined },
        actingKey: { id: 'key_1', name: 'work' },
      })
    }
    const id = callers[0]?.principal.slice('link:'.length) ?? ''
    expect(await links.findRights(id)).toMatchObject({ accountId: ada })
    expect(await links.identify(`${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`)).toBeUndefined()
    expect(await links.identify('stl_short')).toBeUndefined()
  })

  test('a link expires after an hour, and the next one deletes it', async () => {
    const { links, store, clock } = await open(engine)
    const { token } = await links.create(key, sandboxId)
    clock.nowMs += linkSeconds * 1000
    expect(await links.identify(token)).toBeUndefined()
    expect(await store.read.first(countLinks)).toBe(1)
    await links.create(key, sandboxId)
    expect(await store.read.first(countLinks)).toBe(1)
  })

  test('a link ends with its key, its sign-in, and the run of its sandbox', async () => {
    const { links, store } = await open(engine)
    const ofKey = await links.create(key, sandboxId)
    const ofSignIn = await links.create(signIn, sandboxId)
    const ofWindow = await links.create({ accountId: ada, principal: 'person:window' }, sandboxId)
    const present = async () =>
      Promise.all([ofKey, ofSignIn, ofWindow].map(async ({ token }) => (await links.identify(token)) !== undefined))
    expect(await present()).toEqual([true, true, true])
    await store.write((tx) => tx.run(revokeKey))
    expect(await present()).toEqual([false, true, true])
    await store.write((tx) => tx.run(endSignIn))
    expect(await present()).toEqual([false, false, true])
    await store.write((tx) => tx.run(setStatus, { status: 'running', startedAtMs: 1 }))
    await store.write((tx) => tx.run(setStatus, { status: 'stopped', startedAtMs: null }))
    expect(await present()).toEqual([false, false, false])
  })

  test('a sandbox that is deleted meanwhile gets no link', async () => {
    const { links, store } = await open(engine)
    const creations = Array.from({ length: 20 }, () => links.create(key, sandboxId))
    const deletion = store.write((tx) => tx.run(deleteSandbox))
    const results = await Promise.allSettled(creations)
    await deletion
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(codes.map(() => 'sandbox/not-found'))
    await expect(links.create(key, sandboxId)).rejects.toMatchObject({ code: 'sandbox/not-found' })
    expect(await store.read.first(countLinks)).toBe(0)
  })
})

const countLinks = defineStatement('SELECT count(*) AS count FROM terminal_links').withRows((row) => Number(row.count))
const insertKey = defineStatement<Params<'hash'>>(
  `INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms)
    VALUES ('key_1', 'acc_ada', 'work', @hash, 'sk', 0, 1)`,
)
const insertWallet = defineStatement(
  `INSERT INTO account_wallets (caip10, account_id, type, address, linked_at_ms)
    VALUES ('eip155:1:0xa', 'acc_ada', 'evm', '0xa', 1)`,
)
const insertSignIn = defineStatement<Params<'hash'>>(
  `INSERT INTO refresh_tokens (hash, family_id, account_id, caip10, created_at_ms, expires_at_ms)
    VALUES (@hash, 'family', 'acc_ada', 'eip155:1:0xa', 1, 1000000000)`,
)
const revokeKey = defineStatement(`DELETE FROM api_keys WHERE id = 'key_1'`)
const endSignIn = defineStatement('UPDATE refresh_tokens SET revoked_at_ms = 2')
const setStatus = defineStatement<Params<'status' | 'startedAtMs'>>(
  'UPDATE sandboxes SET status = @status, started_at_ms = @startedAtMs',
)
const deleteSandbox = defineStatement('DELETE FROM sandboxes')

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada)
  await seedSandbox(store, ada, sandboxId)
  await store.write(async (tx) => {
    await tx.run(insertKey, { hash: Buffer.alloc(32, 1) })
    await tx.run(insertWallet)
    await tx.run(insertSignIn, { hash: Buffer.alloc(32, 2) })
  })
  const clock = { nowMs: 1_000 }
  return { store, clock, links: createTerminalLinks({ store, now: () => clock.nowMs, randomBytes }) }
}
