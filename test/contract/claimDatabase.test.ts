import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { claimDatabase, type DatabaseClaim, requireClaim } from '#storage/postgres/claimDatabase.ts'
import { openPostgresStore } from '#storage/postgres/postgresStore.ts'
import { defineStatement } from '#storage/store.ts'
import { until } from '../support/assertions/eventually.ts'
import { postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** A database of PostgreSQL is used by one service. */
skipWhen(postgresMissing)
let server: TestPostgres
let url: string

beforeAll(async () => {
  if (postgresMissing === undefined) server = await startPostgres()
})
afterAll(() => server?.stop())
beforeEach(async () => {
  url = await server.createDatabase()
})

async function claim(intervalMs = 20): Promise<DatabaseClaim> {
  const opened = await claimDatabase({ url, intervalMs })
  onTestFinished(() => opened.close())
  return opened
}

/** Ends all sessions that hold the claim, as a lost connection does. */
async function endClaims(): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'steward claim'")
  await client.end()
}

test('a second service is refused until the first has ended', async () => {
  const first = await claim()
  expect(first.isValid).toBe(true)
  await expect(claim()).rejects.toMatchObject({ code: 'data/in-use' })
  await first.close()
  expect((await claim()).isValid).toBe(true)
})

test('a lost session is claimed again', async () => {
  const service = await claim()
  await endClaims()
  await until('the loss to be seen', () => !service.isValid)
  await until('the database to be claimed again', () => service.isValid)
  await expect(claim()).rejects.toMatchObject({ code: 'data/in-use' })
})

test('a service that lost its session does nothing while another one uses the database', async () => {
  const first = await claim(1_000)
  const store = requireClaim(await openPostgresStore({ url }), first)
  onTestFinished(() => store.close())
  const one = defineStatement('SELECT 1 AS one').withRows(({ one }) => one)
  expect(await store.read.first(one)).toBe(1)
  await endClaims()
  const other = await until('the other service to claim it', () => claim().catch(() => undefined))
  expect(first.isValid).toBe(false)
  await expect(store.read.first(one)).rejects.toMatchObject({ code: 'data/unavailable' })
  await expect(store.write((tx) => tx.first(one))).rejects.toMatchObject({ code: 'data/unavailable' })
  await other.close()
  await until('the database to be claimed again', () => first.isValid)
  expect(await store.write((tx) => tx.first(one))).toBe(1)
})

test('reports a database that cannot be reached', async () => {
  const claimed = claimDatabase({ url: 'postgresql://steward@127.0.0.1:1/none' })
  await expect(claimed).rejects.toMatchObject({ code: 'data/unavailable' })
})
