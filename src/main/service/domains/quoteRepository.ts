import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
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

type StoredQuote = RowOf<typeof quotes>

const selection = `SELECT ${quotes.selection()} FROM domain_quotes`
const toQuote = (row: StoredRow): DomainQuote => {
  const { registrar: _, ...quote } = quotes.fromRow(row)
  return quote
}
const insert = defineStatement<Params<keyof StoredQuote>>(quotes.insert)
const find = defineStatement<Params<'id' | 'registrar' | 'accountId'>>(
  `${selection} WHERE id = @id AND registrar = @registrar AND account_id = @accountId`,
).withRows(toQuote)
const findNewest = defineStatement<Params<'registrar' | 'accountId' | keyof QuoteRequest>>(
  `${selection} WHERE registrar = @registrar AND account_id = @accountId AND domain = @domain AND type = @type
     AND years = @years ORDER BY created_at_ms DESC, id LIMIT 1`,
).withRows(toQuote)
const findPremiumRenewal = defineStatement<Params<'registrar' | 'domain'>>(
  `SELECT renewal_cents AS "cents" FROM domain_quotes WHERE registrar = @registrar AND domain = @domain
     AND type = 'registration' AND premium = 1 ORDER BY created_at_ms DESC LIMIT 1`,
).withRows(({ cents }) => Number(cents))
const removeEnded = defineStatement<Params<'beforeMs'>>(
  'DELETE FROM domain_quotes WHERE expires_at_ms < @beforeMs AND premium = 0',
)

export const quoteStatements = { insert, find, findNewest, findPremiumRenewal, removeEnded }

export type QuoteRepository = ReturnType<typeof createQuoteRepository>

/** @param registrar registrar of the quotes */
export function createQuoteRepository(registrar: RegistrarId) {
  return {
    async add(tx: Transaction, quote: DomainQuote): Promise<void> {
      await tx.run(insert, quotes.params({ ...quote, registrar }))
    },
    find: (query: Query, accountId: AccountId, id: string): Promise<DomainQuote | undefined> =>
      query.first(find, { id, registrar, accountId }),
    /** Finds the newest quote for the same order. */
    findNewest: (query: Query, accountId: AccountId, request: QuoteRequest): Promise<DomainQuote | undefined> => {
      const { domain, type, years } = request
      return query.first(findNewest, { registrar, accountId, domain, type, years })
    },
    /** Yearly price of a premium name as quoted for its registration, in cents. */
    findPremiumRenewal: (query: Query, domain: string): Promise<number | undefined> =>
      query.first(findPremiumRenewal, { registrar, domain }),
    /** Removes quotes that ended before this time, except those of premium names. */
    async removeEnded(tx: Transaction, beforeMs: number): Promise<void> {
      await tx.run(removeEnded, { beforeMs })
    },
  }
}
