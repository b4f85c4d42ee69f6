import type { SpendingGrouping, TransactionType } from '#shared/contract/credits.ts'
import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type RowStatement } from '#storage/store.ts'
import { type Column, defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'
import { revenueAccount, type TransferType, transferColumns } from './ledgerRepository.ts'

const refunded: Column<number | null> = {
  ...nullable(number()),
  select: () => '(SELECT sum(refund.amount) FROM credit_transfers AS refund WHERE refund.refund_of = entry.id)',
}
const entries = defineTable('credit_transfers', { ...transferColumns, keyId: nullable(text()), refunded })
export type HistoryRow = RowOf<typeof entries>

/** Journal entries of one account. */
export type HistoryRepository = {
  /** Returns the sequence of the newest entry of all accounts, or 0. */
  newest(): Promise<number>
  /** Counts the transfers of an account. */
  entries(account: AccountId): Promise<number>
  /** Lists entries of one range of the journal, newest first. */
  stretch(
    account: AccountId,
    filters: HistoryFilters,
    page: Stretch & { limit: number; offset: number },
  ): Promise<HistoryRow[]>
  count(account: AccountId, filters: HistoryFilters, stretch: Stretch): Promise<number>
  /** Sums by days since 1970 in UTC, from the first through the last. */
  sums(account: AccountId, days: { from: number; to: number }, by: SpendingGrouping): Promise<SumRow[]>
}

/** Range of sequences, exclusive at both ends. */
export type Stretch = { above: number; below: number }
export type HistoryFilters = {
  type?: TransactionType | undefined
  model?: string | undefined
  keyId?: string | undefined
  fromMs?: number | undefined
  beforeMs?: number | undefined
  text?: string | undefined
}
/** Sums of a group. Fields outside the grouping are null. */
export type SumRow = {
  day: number | null
  model: string | null
  keyId: string | null
  type: TransferType
  transfers: number
  debits: number
  credits: number
}

/** Type that matches no transfer. */
const none = '-'

type Parameters = {
  account: string
  above: number
  below: number
  debitType: string | null
  creditType: string | null
  model: string | null
  key: string | null
  from: number | null
  before: number | null
  text: string | null
  id: string | null
}

type PageParams = Params<keyof Parameters | 'limit' | 'offset'>
type DayParams = Params<'account' | 'from' | 'to'>

const newest = defineStatement('SELECT coalesce(max(sequence), 0) AS sequence FROM credit_transfers').withRows((row) =>
  Number(row.sequence),
)
const countEntries = defineStatement<Params<'account'>>(
  'SELECT entries AS total FROM credit_accounts WHERE id = @account',
).withRows((row) => Number(row.total))
const sumRows = defineTable('credit_days', {
  day: nullable(number()),
  model: nullable(text()),
  keyId: nullable(text()),
  type: text<TransferType>(),
  transfers: number(),
  debits: number(),
  credits: number(),
})

export function createHistoryRepository(query: Query): HistoryRepository {
  const listEntries = memoizeText((sql) => defineStatement<PageParams>(sql).withRows(entries.fromRow))
  const countMatches = memoizeText((sql) =>
    defineStatement<Params<keyof Parameters>>(sql).withRows((row) => Number(row.total)),
  )
  const sumDays = memoizeText((sql) => defineStatement<DayParams>(sql).withRows(sumRows.fromRow))

  return {
    newest: async () => (await query.first(newest)) ?? 0,
    entries: async (account) => (await query.first(countEntries, { account })) ?? 0,
    async stretch(account, filters, { limit, offset, ...stretch }) {
      if (isUnstorable(filters)) return []
      const parameters = toParameters(account, filters, stretch)
      return query.all(listEntries(listSql(parameters)), { ...parameters, limit, offset })
    },
    async count(account, filters, stretch) {
      if (isUnstorable(filters)) return 0
      const parameters = toParameters(account, filters, stretch)
      return (await query.first(countMatches(countSql(parameters)), parameters)) ?? 0
    },
    sums: (account, { from, to }, by) => query.all(sumDays(sumSql(by)), { account, from, to }),
  }
}

type Texts = { sqlite: string; postgres: string }

/** Returns the same statement for the same text. The number of texts is bounded by the combinations of filters. */
function memoizeText<P extends Params<string>, T>(
  define: (sql: Texts) => RowStatement<P, T>,
): (sql: Texts) => RowStatement<P, T> {
  const statements = new Map<string, RowStatement<P, T>>()
  return (sql) => {
    const statement = statements.get(sql.sqlite) ?? define(sql)
    statements.set(sql.sqlite, statement)
    return statement
  }
}

/** Whether a filter contains U+0000, which PostgreSQL does not store, so that nothing matches it. */
function isUnstorable({ model, keyId, text }: HistoryFilters): boolean {
  return [model, keyId, text].some((it) => it?.includes('\0'))
}

function listSql(parameters: Parameters): Texts {
  return toTexts(
    (like) =>
      `${selectSides(entries.selection(), parameters, like)} ORDER BY sequence DESC LIMIT @limit OFFSET @offset`,
  )
}

function countSql(parameters: Parameters): Texts {
  return toTexts((like) => `SELECT count(*) AS total FROM (${selectSides('1', parameters, like)}) AS matches`)
}

function sumSql(by: SpendingGrouping): Texts {
  const isBy = (name: string) => by.split(',').includes(name)
  const sql = `SELECT ${isBy('day') ? 'day' : 'NULL'} AS day, ${isBy('model') ? `nullif(model, '')` : 'NULL'} AS model,
      ${isBy('key') ? `nullif(key_id, '')` : 'NULL'} AS "keyId", type,
      sum(transfers) AS transfers, sum(debits) AS debits, sum(credits) AS credits
    FROM credit_days WHERE account_id = @account AND day BETWEEN @from AND @to
    GROUP BY 1, 2, 3, 4 ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 3 NULLS FIRST`
  return { sqlite: sql, postgres: sql }
}

/** SQLite's LIKE ignores the case of ASCII letters. ILIKE does so for columns with the collation "C". */
function toTexts(build: (like: 'LIKE' | 'ILIKE') => string): Texts {
  return { sqlite: build('LIKE'), postgres: build('ILIKE') }
}

const debitTypes: Readonly<Record<TransactionType, TransferType | typeof none>> = {
  grant: none,
  top_up: none,
  adjustment: 'adjustment',
  transfer_in: none,
  transfer_out: 'transfer',
  inference: 'inference',
  sandbox: 'sandbox',
  refund: none,
}
const creditTypes: Readonly<Record<TransactionType, TransferType | typeof none>> = {
  grant: 'grant',
  top_up: 'top_up',
  adjustment: 'adjustment',
  transfer_in: 'transfer',
  transfer_out: none,
  inference: none,
  sandbox: none,
  refund: 'refund',
}

function toParameters(account: AccountId, filters: HistoryFilters, { above, below }: Stretch): Parameters {
  const { type, model = null, keyId: key = null, fromMs: from = null, beforeMs: before = null, text } = filters
  return {
    ...{ account, above, below, model, key, from, before },
    // charges are credited to the service
    creditType: type ? creditTypes[type] : model === null ? null : none,
    debitType: type ? debitTypes[type] : null,
    text: text === undefined ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`,
    id: text ?? null,
  }
}

/** Builds the query with conditions for the active filters only, because each condition costs time. */
function selectSides(selected: string, parameters: Parameters, like: 'LIKE' | 'ILIKE'): string {
  const filters = [
    'AND sequence > @above AND sequence < @below',
    parameters.model !== null && `AND type = 'inference' AND description = @model`,
    parameters.key !== null && 'AND key_id = @key',
    parameters.from !== null && 'AND at_ms >= @from',
    parameters.before !== null && 'AND at_ms < @before',
    parameters.text !== null && `AND (description ${like} @text ESCAPE '\\' OR id = @id)`,
  ]
  const condition = filters.filter((filter) => filter !== false).join(' ')
  const debits = `SELECT ${selected} FROM credit_transfers AS entry
    WHERE debit_account = @account ${condition} ${parameters.debitType === null ? '' : 'AND type = @debitType'}`
  const credits = `SELECT ${selected} FROM credit_transfers AS entry
    WHERE credit_account = @account AND credit_account <> '${revenueAccount}' ${condition}
      ${parameters.creditType === null ? '' : 'AND type = @creditType'}`
  if (parameters.creditType === none) return debits
  return parameters.debitType === none ? credits : `${debits} UNION ALL ${credits}`
}
