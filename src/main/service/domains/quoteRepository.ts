import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'
import type { RegistrarId } from './registrars/registrar.ts'

const quotes = defineTable('domain_quotes', {
  id: text(),
  registrar: text<RegistrarId>(),
  accountId: text<AccountId>(),
  domain: text(),
  type: text<'registration' | 'renewal'>(),
  years: number(),
  amountCents: number(),
  registrationCents: number(),
  renewalCents: number(),
  premium: flag(),
  createdAtMs: number(),
  expiresAtMs: number(),
})

/**
 * Prices of the first year (`registrationCents`), of each later year (`renewalCents`), and of all years
 * (`amountCents`).
 */
export type DomainQuote = Omit<RowOf<typeof quotes>, 'registrar'>
export type QuoteRequest = Pick<DomainQuote, 'domain' | 'type' | 'years'>

export type QuoteRepository = {
  add(quote: DomainQuote): void
  find(accountId: AccountId, id: string): DomainQuote | undefined
  /** Finds the newest quote for the same order. */
  newest(accountId: AccountId, quoteKey: QuoteRequest): DomainQuote | undefined
  /** Yearly price of a premium name as quoted for its registration, in cents. */
  premiumRenewal(domain: string): number | undefined
  /** Removes quotes that ended before this time, except those of premium names. */
  removeEnded(beforeMs: number): void
}

/** @param registrar registrar of the quotes */
export function createQuoteRepository(database: Database, registrar: RegistrarId): QuoteRepository {
  const selection = `SELECT ${quotes.selection()} FROM domain_quotes`
  const add = database.prepare<[Params<keyof RowOf<typeof quotes>>]>(quotes.insert)
  const find = database.prepare<[Params<'id' | 'registrar' | 'accountId'>], StoredRow>(
    `${selection} WHERE id = @id AND registrar = @registrar AND account_id = @accountId`,
  )
  const newest = database.prepare<[Params<'registrar' | 'accountId' | keyof QuoteRequest>], StoredRow>(
    `${selection} WHERE registrar = @registrar AND account_id = @accountId AND domain = @domain AND type = @type
       AND years = @years ORDER BY created_at_ms DESC, id LIMIT 1`,
  )
  const premium = database.prepare<[Params<'registrar' | 'domain'>], { cents: number }>(
    `SELECT renewal_cents AS cents FROM domain_quotes WHERE registrar = @registrar AND domain = @domain
       AND type = 'registration' AND premium = 1 ORDER BY created_at_ms DESC LIMIT 1`,
  )
  const removeEnded = database.prepare<[number]>('DELETE FROM domain_quotes WHERE expires_at_ms < ? AND premium = 0')
  const toQuote = (row: StoredRow | undefined): DomainQuote | undefined => {
    if (!row) return undefined
    const { registrar: _, ...quote } = quotes.fromRow(row)
    return quote
  }

  return {
    add: (quote) => void add.run(quotes.params({ ...quote, registrar })),
    find: (accountId, id) => toQuote(find.get({ id, registrar, accountId })),
    newest: (accountId, { domain, type, years }) => toQuote(newest.get({ registrar, accountId, domain, type, years })),
    premiumRenewal: (domain) => premium.get({ registrar, domain })?.cents,
    removeEnded: (beforeMs) => void removeEnded.run(beforeMs),
  }
}
