import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createNonces } from '#service/auth/nonces.ts'
import { authLimits } from '#shared/contract/auth.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { migratePostgres } from '#storage/postgres/migratePostgres.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** Nonces of sign-ins, on both engines of the store. */
describeStores('sign-in nonces', (engine) => {
  test('a nonce is valid once', async () => {
    const { nonces } = await open(engine)
    const { nonce, expiresAtMs } = await nonces.create()
    expect(nonce).toMatch(/^[0-9a-f]{32}$/)
    expect(await nonces.spend([nonce, nonce, 'unknown'])).toEqual(new Map([[nonce, expiresAtMs]]))
    expect(await nonces.spend([nonce])).toEqual(new Map())
  })

  test('of 20 concurrent sign-ins with one nonce, one gets it', async () => {
    const { nonces } = await open(engine)
    const { nonce } = await nonces.create()
    const results = await Promise.all(Array.from({ length: 20 }, () => nonces.spend([nonce])))
    expect(results.filter((spent) => spent.has(nonce))).toHaveLength(1)
  })

  test('an expired nonce is spent without being valid', async () => {
    const clock = { nowMs: 1_000_000 }
    const { nonces, store } = await open(engine, { now: () => clock.nowMs })
    const { nonce } = await nonces.create()
    clock.nowMs += authLimits.nonceMs
    expect(await nonces.spend([nonce])).toEqual(new Map())
    expect(await countNonces(store)).toBe(0)
  })

  test('creating a nonce deletes expired ones', async () => {
    const clock = { nowMs: 1_000_000 }
    const { nonces, store } = await open(engine, { now: () => clock.nowMs })
    await nonces.create()
    clock.nowMs += authLimits.nonceMs
    await nonces.create()
    expect(await countNonces(store)).toBe(1)
  })

  test('a message that names hundreds of nonces spends 16', async () => {
    const { nonces } = await open(engine)
    const { nonce } = await nonces.create()
    const fillers = Array.from({ length: 400 }, (_, index) => `filler-${index}`)
    expect(await nonces.spend([...fillers.slice(0, 16), nonce, ...fillers.slice(16)])).toEqual(new Map())
    expect((await nonces.spend([...fillers.slice(0, 15), nonce])).has(nonce)).toBe(true)
  })

  test('a flood drops the oldest nonces', async () => {
    const clock = { nowMs: 1_000_000 }
    const limits = { maxNonces: 5, trimEvery: 4 }
    const { nonces, store } = await open(engine, { now: () => clock.nowMs++, ...limits })
    const created: string[] = []
    for (let index = 0; index < 8; index++) created.push((await nonces.create()).nonce)
    expect(await countNonces(store)).toBe(5)
    const spent = await nonces.spend(created)
    expect([...spent.keys()]).toEqual(created.slice(3))
  })
})

const count = defineStatement('SELECT count(*) AS count FROM auth_nonces').withRows((row) => Number(row.count))
const countNonces = (store: Store): Promise<number | undefined> => store.read.first(count)

type NonceOptions = Partial<Parameters<typeof createNonces>[0]>

async function open(engine: StoreEngine, options: NonceOptions = {}) {
  const opened = await engine.open()
  if (opened.name === 'sqlite') migrate(opened.database, serviceMigrations)
  else await migratePostgres(opened.url)
  const store: Store = opened.store
  return { store, nonces: createNonces({ store, now: Date.now, randomBytes, ...options }) }
}
