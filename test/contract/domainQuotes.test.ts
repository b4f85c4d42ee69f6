import { expect, test } from 'vitest'
import { createDomainQuotes } from '#service/domains/domainQuotes.ts'
import type { DomainRow } from '#service/domains/domainRepository.ts'
import { createQuoteRepository, type DomainQuote } from '#service/domains/quoteRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import { openServiceStore, seedAccounts } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** Quotes of domains, on both engines of the store. */
const registration = { type: 'registration', domain: 'example.com', years: 3 } as const
const renewal = { ...registration, type: 'renewal' } as const

describeStores('domain quotes', (engine) => {
  test('a quote is found by its account and id with all of its values', async () => {
    const { quotes, records, store, ada } = await open(engine)
    const quote = await quotes.make(ada, registration)
    expect(quote).toEqual({
      ...registration,
      id: expect.stringMatching(/^quo_[0-9a-f]{24}$/),
      accountId: ada,
      registrationCents: 1_000,
      renewalCents: 1_200,
      amountCents: 3_400,
      premium: false,
      createdAtMs: startMs,
      expiresAtMs: startMs + 15 * 60_000,
    })
    expect(await records.find(store.read, ada, quote.id)).toEqual(quote)
    expect(await records.find(store.read, AccountId.parse('acc_eve'), quote.id)).toBeUndefined()
    expect(await createQuoteRepository('namesilo').find(store.read, ada, quote.id)).toBeUndefined()
  })

  test('an order without a named quote uses the newest one for the same years', async () => {
    const { quotes, clock, ada } = await open(engine)
    await quotes.make(ada, registration)
    clock.nowMs += 1
    const newest = await quotes.make(ada, registration)
    await quotes.make(ada, { ...registration, years: 1 })
    expect(await quotes.resolve(ada, registration, undefined)).toEqual(newest)
  })

  test('a new quote removes ended quotes but keeps those of premium names', async () => {
    const { quotes, offer, clock, list, ada } = await open(engine)
    const standard = await quotes.make(ada, registration)
    offer.premium = true
    offer.price = { registration: 90_000, renewal: 80_000 }
    const premium = await quotes.make(ada, { ...registration, domain: 'gold.com' })
    clock.nowMs += 15 * 60_000
    const atExpiry = await quotes.make(ada, { ...registration, domain: 'other.com' })
    expect(await list()).toEqual([standard.id, premium.id, atExpiry.id].sort())
    clock.nowMs += 1
    const last = await quotes.make(ada, { ...renewal, domain: 'gold.com' })
    expect(await list()).toEqual([premium.id, atExpiry.id, last.id].sort())
    expect(last).toMatchObject({ amountCents: 240_000, premium: true })
  })

  test('20 concurrent quotes are all stored', async () => {
    const { quotes, list, ada } = await open(engine)
    const stored: DomainQuote[] = await Promise.all(Array.from({ length: 20 }, () => quotes.make(ada, registration)))
    expect(await list()).toEqual(stored.map(({ id }) => id).sort())
  })
})

const startMs = Date.UTC(2026, 0, 1)
const listIds = defineStatement('SELECT id FROM domain_quotes ORDER BY id').withRows(({ id }) => String(id))

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  const ada = AccountId.parse('acc_ada')
  await seedAccounts(store, ada)
  const clock = { nowMs: startMs }
  const offer = { premium: false, price: { registration: 1_000, renewal: 1_200 } }
  const records = createQuoteRepository('local')
  const quotes = createDomainQuotes({
    ...{ store, records, now: () => clock.nowMs },
    domains: { requireOwned: async () => ({}) as DomainRow }, // not read
    registrar: {
      check: async (names) => names.map((name) => ({ name, status: 'available', ...offer })),
      renewalPrice: async () => 1_200,
    },
  })
  return { store, ada, clock, offer, records, quotes, list: () => store.read.all(listIds) }
}
