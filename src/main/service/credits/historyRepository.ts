import type { SpendingGrouping, TransactionType } from '#shared/contract/credits.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  type Column,
  defineTable,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'
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
  newest(): number
  /** Counts the transfers of an account. */
  entries(account: AccountId): number
  /** Lists entries of one range of the journal, newest first. */
  stretch(account: AccountId, filters: HistoryFilters, page: Stretch & { limit: number; offset: number }): HistoryRow[]
  count(account: AccountId, filters: HistoryFilters, stretch: Stretch): number
  /** Sums by days since 1970 in UTC, from the first through the last. */
  sums(account: AccountId, days: { from: number; to: number }, by: SpendingGrouping): SumRow[]
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

export function createHistoryRepository(database: Database): HistoryRepository {
  const newest = database.prepare<[], { sequence: number | null }>(
    'SELECT max(sequence) AS sequence FROM credit_transfers',
  )
  const countEntries = database.prepare<[Params<'account'>], { total: number }>(
    'SELECT entries AS total FROM credit_accounts WHERE id = @account',
  )

  return {
    newest: () => newest.get()?.sequence ?? 0,
    entries: (account) => countEntries.get({ account })?.total ?? 0,
    stretch(account, filters, { limit, offset, ...stretch }) {
      const parameters = toParameters(account, filters, stretch)
      const statement = database.prepare<[Params<keyof Parameters | 'limit' | 'offset'>], StoredRow>(
        `${selectSides(entries.selection(), parameters)} ORDER BY sequence DESC LIMIT @limit OFFSET @offset`,
      )
      return statement.all({ ...parameters, limit, offset }).map(entries.fromRow)
    },
    count(account, filters, stretch) {
      const parameters = toParameters(account, filters, stretch)
      const statement = database.prepare<[Params<keyof Parameters>], { total: number }>(
        `SELECT count(*) AS total FROM (${selectSides('1', parameters)})`,
      )
      return statement.get(parameters)?.total ?? 0
    },
    sums(account, { from, to }, by) {
      const isBy = (name: string) => by.split(',').includes(name)
      const statement = database.prepare<[Params<'account' | 'from' | 'to'>], SumRow>(
        `SELECT ${isBy('day') ? 'day' : 'NULL'} AS day, ${isBy('model') ? `nullif(model, '')` : 'NULL'} AS model,
           ${isBy('key') ? `nullif(key_id, '')` : 'NULL'} AS "keyId", type,
           sum(transfers) AS transfers, sum(debits) AS debits, sum(credits) AS credits
         FROM credit_days WHERE account_id = @account AND day BETWEEN @from AND @to
         GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3`,
      )
      return statement.all({ account, from, to })
    },
  }
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
function selectSides(selected: string, parameters: Parameters): string {
  const filters = [
    'AND sequence > @above AND sequence < @below',
    parameters.model !== null && `AND type = 'inference' AND description = @model`,
    parameters.key !== null && 'AND key_id = @key',
    parameters.from !== null && 'AND at_ms >= @from',
    parameters.before !== null && 'AND at_ms < @before',
    parameters.text !== null && `AND (description LIKE @text ESCAPE '\\' OR id = @id)`,
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
