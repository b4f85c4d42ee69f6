import { afterEach, beforeEach, expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { createDomainQuotes } from './domainQuotes.ts'
import type { DomainRow } from './domainRepository.ts'
import { createQuoteRepository } from './quoteRepository.ts'
import { createLocalRegistry } from './registrars/local/localRegistry.ts'
import type { NamePrice, Registrar } from './registrars/registrar.ts'

/** Prices that change between the quote and the payment. */
const ada = AccountId.parse('acc_ada')
const key = { type: 'registration', domain: 'example.com', years: 3 } as const
const renewal = { ...key, type: 'renewal' } as const
let nowMs: number
let database: Database
let price: NamePrice
let premium: boolean

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1)
  price = { registration: 1_000, renewal: 1_200 }
  premium = false
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(ada, 'user', 'Ada', nowMs)
})
afterEach(() => database.close())

function quotes() {
  const now = () => nowMs
  const real = createLocalRegistry({ store: createSqliteStore(database), prices: [], now })
  const registrar: Registrar = {
    ...real,
    check: async (names) => names.map((name) => ({ name, status: 'available', premium, price })),
    renewalPrice: async () => 1_200,
  }
  const createRow = async () => ({}) as DomainRow // not read
  return createDomainQuotes({
    store: createSqliteStore(database),
    records: createQuoteRepository('local'),
    domains: { requireOwned: createRow },
    registrar,
    now,
  })
}

test('a quote keeps its price after a drop and is rejected after a rise', async () => {
  const quote = await quotes().make(ada, key)
  expect(quote.amountCents).toBe(1_000 + 2 * 1_200)
  price = { registration: 900, renewal: 1_200 }
  expect(await quotes().resolve(ada, key, quote.id)).toEqual(quote)
  price = { registration: 224_200, renewal: 1_200 }
  await expect(quotes().resolve(ada, key, quote.id)).rejects.toMatchObject({
    code: 'domain/quote',
    message: 'example.com now costs $2,266.00, but the quote says $34.00.',
  })
})

test('a registration quote is rejected after the renewal price rises', async () => {
  const quote = await quotes().make(ada, { ...key, years: 1 })
  price = { registration: 1_000, renewal: 99_000 }
  await expect(quotes().resolve(ada, { ...key, years: 1 }, quote.id)).rejects.toMatchObject({ code: 'domain/quote' })
})

test('an offer without a quote is valid for 15 minutes unless the price rises', async () => {
  const first = await quotes().resolve(ada, key, undefined)
  nowMs += 14 * 60_000
  price = { registration: 900, renewal: 1_100 }
  expect(await quotes().resolve(ada, key, undefined)).toEqual(first)
  nowMs += 60_000
  expect((await quotes().resolve(ada, key, undefined)).amountCents).toBe(3_100)
  price = { registration: 5_000, renewal: 5_000 }
  expect((await quotes().resolve(ada, key, undefined)).amountCents).toBe(15_000)
})

test('an expired named quote is rejected', async () => {
  const quote = await quotes().make(ada, key)
  nowMs += 15 * 60_000
  await expect(quotes().resolve(ada, key, quote.id)).rejects.toMatchObject({ code: 'domain/quote' })
})

test('a premium name renews at its stated price, not the standard list price', async () => {
  expect((await quotes().make(ada, renewal)).amountCents).toBe(3_600)
  premium = true
  price = { registration: 224_200, renewal: 224_200 }
  await quotes().make(ada, key)
  nowMs += 365 * 24 * 3_600_000
  await quotes().make(ada, { ...key, domain: 'other.com' })
  expect(await quotes().make(ada, renewal)).toMatchObject({ amountCents: 3 * 224_200, premium: true })
})
