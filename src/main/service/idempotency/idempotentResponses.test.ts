import { expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { answerBudget, createIdempotentAnswers } from './idempotentResponses.ts'

const [ada, bob] = ['a', 'b'].map((letter) => AccountId.parse(letter.repeat(32))) as [AccountId, AccountId]

function openAnswers(budget: Partial<typeof answerBudget>) {
  const database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  const account = database.prepare("INSERT INTO accounts (id, role, name, created_at_ms) VALUES (?, 'user', 'a', 1)")
  for (const id of [ada, bob]) account.run(id)
  let nowMs = 0
  const answers = createIdempotentAnswers({
    store: createSqliteStore(database),
    now: () => ++nowMs,
    budget: { ...answerBudget, ...budget },
  })
  const store = (accountId: AccountId, key: string, body: string) =>
    answers.once({ accountId, key, method: 'POST', path: '/v1/sandboxes', body: Buffer.alloc(0) }, async () => ({
      status: 201,
      body,
    }))
  const listKeys = (accountId: AccountId) =>
    database
      .prepare<[string], { key: string }>(
        'SELECT key FROM idempotent_answers WHERE account_id = ? ORDER BY expires_at_ms',
      )
      .all(accountId)
      .map(({ key }) => key)
  return { store, keysOf: listKeys }
}

test('an account keeps its newest responses up to its count limit', async () => {
  const { store, keysOf } = openAnswers({ maxAnswers: 20 })
  await store(bob, 'other', '{}')
  for (let index = 0; index < 50; index++) await store(ada, `key ${index}`, '{}')
  expect(keysOf(ada)).toEqual(Array.from({ length: 20 }, (_, index) => `key ${index + 30}`))
  expect(keysOf(bob)).toEqual(['other'])
})

test('an account keeps its newest responses up to its byte limit', async () => {
  const { store, keysOf } = openAnswers({ maxBytes: 10_000 })
  for (let index = 0; index < 50; index++) await store(ada, `key ${index}`, JSON.stringify('x'.repeat(998)))
  expect(keysOf(ada)).toEqual(Array.from({ length: 10 }, (_, index) => `key ${index + 40}`))
})
