import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPortTokens, portTokenSeconds } from '#service/ports/portTokens.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('acc_ada')
const sandboxId = SandboxId.parse('a'.repeat(32))
const port = { sandboxId, port: 8000, visibility: 'private', subdomain: null } as const
const other = { ...port, port: 8001 } as const

/** Tokens of private ports, on both engines of the store. */
describeStores('port tokens', (engine) => {
  test('a token opens its port and no other', async () => {
    const { tokens } = await open(engine)
    const { token, expiresAtMs } = await tokens.create(port, 'key:key_1')
    expect([token, expiresAtMs]).toEqual([expect.stringMatching(/^spt_/), 1_000 + portTokenSeconds * 1000])
    const principals = await Promise.all(Array.from({ length: 20 }, () => tokens.find(token, port)))
    for (const principal of principals) expect(principal).toMatch(/^port-token:[0-9a-f]{64}$/)
    const id = principals[0]?.slice('port-token:'.length) ?? ''
    expect(await tokens.findSandbox(id)).toBe(sandboxId)
    expect(await tokens.find(token, other)).toBeUndefined()
    expect(await tokens.find(token, { ...port, sandboxId: SandboxId.parse('b'.repeat(32)) })).toBeUndefined()
    expect(await tokens.find(`${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`, port)).toBeUndefined()
    expect(await tokens.find('spt_short', port)).toBeUndefined()
  })

  test('a token expires after twelve hours, and the next one deletes it', async () => {
    const { tokens, store, clock } = await open(engine)
    const { token } = await tokens.create(port, 'key:key_1')
    clock.nowMs += portTokenSeconds * 1000
    expect(await tokens.find(token, port)).toBeUndefined()
    expect(await store.read.first(countTokens)).toBe(1)
    await tokens.create(port, 'key:key_1')
    expect(await store.read.first(countTokens)).toBe(1)
  })

  test('a token ends with its key, its sign-in, and its port', async () => {
    const { tokens, store } = await open(engine)
    const created = [
      await tokens.create(port, 'key:key_1'),
      await tokens.create(port, 'sign-in:family'),
      await tokens.create(port, 'person:window'),
    ]
    const present = async () =>
      Promise.all(created.map(async ({ token }) => (await tokens.find(token, port)) !== undefined))
    expect(await present()).toEqual([true, true, true])
    await store.write((tx) => tx.run(revokeKey))
    expect(await present()).toEqual([false, true, true])
    await store.write((tx) => tx.run(endSignIn))
    expect(await present()).toEqual([false, false, true])
    await store.write((tx) => tx.run(removePorts))
    expect(await present()).toEqual([false, false, false])
    expect(await store.read.first(countTokens)).toBe(0)
  })

  test('a port that is removed during the requests gets no token', async () => {
    const { tokens, store } = await open(engine)
    const creations = Array.from({ length: 20 }, () => tokens.create(port, 'key:key_1'))
    const removal = store.write((tx) => tx.run(removePorts))
    const results = await Promise.allSettled(creations)
    await removal
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(codes.map(() => 'port/not-found'))
    await expect(tokens.create(port, 'key:key_1')).rejects.toMatchObject({ code: 'port/not-found' })
    expect(await store.read.first(countTokens)).toBe(0)
  })
})

const countTokens = defineStatement('SELECT count(*) AS count FROM port_tokens').withRows((row) => Number(row.count))
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
const insertPort = defineStatement<Params<'sandboxId' | 'port'>>(
  `INSERT INTO ports (sandbox_id, port, visibility) VALUES (@sandboxId, @port, 'private')`,
)
const revokeKey = defineStatement(`DELETE FROM api_keys WHERE id = 'key_1'`)
const endSignIn = defineStatement('UPDATE refresh_tokens SET revoked_at_ms = 2')
const removePorts = defineStatement('DELETE FROM ports')

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada)
  await seedSandbox(store, ada, sandboxId)
  await store.write(async (tx) => {
    await tx.run(insertKey, { hash: Buffer.alloc(32, 1) })
    await tx.run(insertWallet)
    await tx.run(insertSignIn, { hash: Buffer.alloc(32, 2) })
    for (const number of [8000, 8001]) await tx.run(insertPort, { sandboxId, port: number })
  })
  const clock = { nowMs: 1_000 }
  return { store, clock, tokens: createPortTokens({ store, now: () => clock.nowMs, randomBytes }) }
}
