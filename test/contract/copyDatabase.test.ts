import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { copyDatabase } from '#storage/postgres/copyDatabase.ts'
import { migratePostgres } from '#storage/postgres/migratePostgres.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { anyText } from '#storage/table.ts'
import { postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** Copies the data of a service from SQLite to PostgreSQL. */
skipWhen(postgresMissing)
let server: TestPostgres
let url: string
let source: Database

beforeAll(async () => {
  if (postgresMissing === undefined) server = await startPostgres()
})
afterAll(() => server?.stop())
beforeEach(async () => {
  url = await server.createDatabase()
  await migratePostgres(url)
  source = openDatabase(':memory:')
  migrate(source, serviceMigrations)
  onTestFinished(() => void source.close())
})

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

function fill(accounts: number): void {
  const account = source.prepare("INSERT INTO accounts (id, role, name, created_at_ms) VALUES (?, 'user', ?, ?)")
  const credit = source.prepare("INSERT INTO credit_accounts (id, kind, credits, entries) VALUES (?, 'user', ?, 1)")
  const grant = source.prepare(
    `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
       description, at_ms) VALUES (?, 'grant', 'service:issued', ?, ?, 0, ?, ?, 1700000000000)`,
  )
  source.transaction(() => {
    for (let index = 0; index < accounts; index += 1) {
      account.run(`acct_${index}`, `Ada Löwe 🦁 ${index}`, 1_700_000_000_000 + index)
      credit.run(`acct_${index}`, 1_000 + index)
      grant.run(`txn_${index}`, `acct_${index}`, 1_000 + index, 1_000 + index, index === 3 ? 'a\0b' : 'a gift')
    }
    const total = source.prepare<[], { sum: number }>('SELECT sum(amount) AS sum FROM credit_transfers').get()?.sum
    source
      .prepare("UPDATE credit_accounts SET debits = ?, entries = ? WHERE id = 'service:issued'")
      .run(total, accounts)
  })()
}

test('copies every row, and new rows continue after them', async () => {
  fill(1_203)
  source
    .prepare("INSERT INTO sandbox_meters (sandbox_id, until_ms, running_ms) VALUES ('a', 9007199254740991, 0.1)")
    .run()
  source.prepare('INSERT INTO auth_nonces (nonce, expires_at_ms) VALUES (?, 5)').run(randomBytes(16).toString('hex'))
  const copies = await copyDatabase(source, url)
  expect(copies).toEqual(
    expect.arrayContaining([
      { table: 'accounts', rows: 1_203 },
      { table: 'credit_accounts', rows: 1_205 },
      { table: 'credit_transfers', rows: 1_203 },
      { table: 'credit_days', rows: 1_203 },
      { table: 'sandbox_meters', rows: 1 },
    ]),
  )
  expect(await query('SELECT until_ms, running_ms FROM sandbox_meters')).toEqual([
    { until_ms: '9007199254740991', running_ms: 0.1 },
  ])
  expect(await query('SELECT sum(credits) AS credits, sum(debits) AS debits FROM credit_accounts')).toEqual(
    source
      .prepare<[], object>(
        'SELECT CAST(sum(credits) AS TEXT) AS credits, CAST(sum(debits) AS TEXT) AS debits FROM credit_accounts',
      )
      .all(),
  )
  const [described] = await query("SELECT description FROM credit_transfers WHERE id = 'txn_3'")
  expect(anyText().decode(String(described?.description))).toBe('a\0b')
  const identity = source.prepare<[], { id: string }>('SELECT id FROM database_identity').all()
  expect(await query('SELECT id FROM database_identity')).toEqual(identity)
  await query(
    `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
       description, at_ms) VALUES ('new', 'grant', 'service:issued', 'acct_1', 1, 0, 0, '', 1)`,
  )
  const sequence = source
    .prepare<[], { last: number }>('SELECT max(sequence) AS last FROM credit_transfers')
    .get()?.last
  expect(await query("SELECT sequence FROM credit_transfers WHERE id = 'new'")).toEqual([
    { sequence: String((sequence ?? 0) + 1) },
  ])
  // The triggers work again.
  expect(await query("SELECT credits FROM credit_days WHERE account_id = 'acct_1' AND day = 0")).toEqual([
    { credits: '1' },
  ])
})

test('refuses a database that contains data', async () => {
  fill(2)
  await copyDatabase(source, url)
  await expect(copyDatabase(source, url)).rejects.toMatchObject({ code: 'data/unusable' })
  expect(await query('SELECT count(*) AS rows FROM accounts')).toEqual([{ rows: '2' }])
})

test('copies nothing if the copy is not equal', async () => {
  fill(2)
  await query(`CREATE RULE rename AS ON INSERT TO accounts DO ALSO UPDATE accounts SET name = 'Eve'`)
  await expect(copyDatabase(source, url)).rejects.toMatchObject({ code: 'data/unusable' })
  expect(await query('SELECT count(*) AS rows FROM credit_transfers')).toEqual([{ rows: '0' }])
})

test('reports a database that cannot be reached', async () => {
  await expect(copyDatabase(source, 'postgresql://steward@127.0.0.1:1/none')).rejects.toMatchObject({
    code: 'data/unavailable',
  })
})
