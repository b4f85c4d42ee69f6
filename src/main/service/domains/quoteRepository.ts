import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { RegistrarId } from './registrars/registrar.ts'

export type DomainQuote = {
  id: string
  accountId: AccountId
  domain: string
  type: 'registration' | 'renewal'
  years: number
  amountCents: number
  /** Of the first year, and of each later one. */
  registrationCents: number
  renewalCents: number
  premium: boolean
  createdAtMs: number
  expiresAtMs: number
}
export type Quoted = Pick<DomainQuote, 'domain' | 'type' | 'years'>

export type QuoteRepository = {
  add(quote: DomainQuote): void
  find(accountId: AccountId, id: string): DomainQuote | undefined
  /** The newest for this. */
  newest(accountId: AccountId, wanted: Quoted): DomainQuote | undefined
  /** What a year of a premium name was said to cost when it was registered, in cents. */
  premiumRenewal(domain: string): number | undefined
  /** Those that ended by then. What premium names cost is kept. */
  removeEnded(beforeMs: number): void
}

type Row = Omit<DomainQuote, 'accountId' | 'premium'> & { accountId: string; premium: 0 | 1 }
const columns = `id, account_id AS accountId, domain, type, years, amount_cents AS amountCents,
  registration_cents AS registrationCents, renewal_cents AS renewalCents, premium, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs`

/** @param registrar whose quotes these are */
export function quoteRepository(database: Database, registrar: RegistrarId): QuoteRepository {
  const add = database.prepare<(string | number)[]>(
    'INSERT INTO domain_quotes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const find = database.prepare<[string, string, string], Row>(
    `SELECT ${columns} FROM domain_quotes WHERE id = ? AND registrar = ? AND account_id = ?`,
  )
  const newest = database.prepare<[string, string, string, string, number], Row>(
    `SELECT ${columns} FROM domain_quotes WHERE registrar = ? AND account_id = ? AND domain = ? AND type = ? AND years = ?
     ORDER BY created_at_ms DESC, id LIMIT 1`,
  )
  const premium = database.prepare<[string, string], { cents: number }>(
    `SELECT renewal_cents AS cents FROM domain_quotes
     WHERE registrar = ? AND domain = ? AND type = 'registration' AND premium = 1 ORDER BY created_at_ms DESC LIMIT 1`,
  )
  const removeEnded = database.prepare<[number]>('DELETE FROM domain_quotes WHERE expires_at_ms < ? AND premium = 0')
  const toQuote = (row: Row | undefined): DomainQuote | undefined =>
    row && { ...row, accountId: AccountId.parse(row.accountId), premium: row.premium === 1 }

  return {
    add: (it) =>
      void add.run(
        ...([it.id, registrar, it.accountId, it.domain, it.type, it.years, it.amountCents] as const),
        ...([it.registrationCents, it.renewalCents, Number(it.premium), it.createdAtMs, it.expiresAtMs] as const),
      ),
    find: (accountId, id) => toQuote(find.get(id, registrar, accountId)),
    newest: (accountId, { domain, type, years }) => toQuote(newest.get(registrar, accountId, domain, type, years)),
    premiumRenewal: (domain) => premium.get(registrar, domain)?.cents,
    removeEnded: (beforeMs) => void removeEnded.run(beforeMs),
  }
}
