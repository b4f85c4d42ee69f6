import type { SpendingGrouping, TransactionType } from '../../../shared/contract/credits.ts'
import type { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import { revenueAccount, type TransferRow, type TransferType, transferColumns } from './ledgerRepository.ts'

/** What was written to the journal, as one account reads it. */
export type HistoryRepository = {
  /** The sequence of the newest entry of all accounts. */
  newest(): number
  /** How many transfers an account has. */
  entries(account: AccountId): number
  /** Those of a stretch of the journal, newest first. */
  stretch(account: AccountId, filters: HistoryFilters, of: Stretch & { limit: number; offset: number }): HistoryRow[]
  count(account: AccountId, filters: HistoryFilters, of: Stretch): number
  /** Sums, of days since 1970 in UTC; both days are included. */
  sums(account: AccountId, days: { from: number; to: number }, by: SpendingGrouping): SumRow[]
}

/** Sequences, without both ends. */
export type Stretch = { above: number; below: number }
export type HistoryFilters = {
  type?: TransactionType | undefined
  model?: string | undefined
  keyId?: string | undefined
  fromMs?: number | undefined
  beforeMs?: number | undefined
  text?: string | undefined
}
/** `refunded`: of a charge, how much of it was given back. */
export type HistoryRow = TransferRow & { keyId: string | null; refunded: number | null }
/** What it is not grouped by is null. */
export type SumRow = {
  day: number | null
  model: string | null
  keyId: string | null
  type: TransferType
  transfers: number
  debits: number
  credits: number
}

const columns = `${transferColumns}, key_id AS keyId,
  (SELECT sum(refund.amount) FROM credit_transfers AS refund WHERE refund.refund_of = entry.id) AS refunded`
/** A type that no transfer has. */
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

export function historyRepository(database: Database): HistoryRepository {
  const newest = database.prepare<[], { sequence: number | null }>(
    'SELECT max(sequence) AS sequence FROM credit_transfers',
  )
  const entries = database.prepare<[string], { total: number }>(
    'SELECT entries AS total FROM credit_accounts WHERE id = ?',
  )

  return {
    newest: () => newest.get()?.sequence ?? 0,
    entries: (account) => entries.get(account)?.total ?? 0,
    stretch(account, filters, { limit, offset, ...stretch }) {
      const given = parametersOf(account, filters, stretch)
      const statement = database.prepare<[Parameters & { limit: number; offset: number }], HistoryRow>(
        `${sides(columns, given)} ORDER BY sequence DESC LIMIT @limit OFFSET @offset`,
      )
      return statement.all({ ...given, limit, offset })
    },
    count(account, filters, stretch) {
      const given = parametersOf(account, filters, stretch)
      const statement = database.prepare<[Parameters], { total: number }>(
        `SELECT count(*) AS total FROM (${sides('1', given)})`,
      )
      return statement.get(given)?.total ?? 0
    },
    sums(account, { from, to }, by) {
      const isBy = (name: string) => by.split(',').includes(name)
      const statement = database.prepare<[string, number, number], SumRow>(
        `SELECT ${isBy('day') ? 'day' : 'NULL'} AS day, ${isBy('model') ? `nullif(model, '')` : 'NULL'} AS model,
           ${isBy('key') ? `nullif(key_id, '')` : 'NULL'} AS keyId, type,
           sum(transfers) AS transfers, sum(debits) AS debits, sum(credits) AS credits
         FROM credit_days WHERE account_id = ? AND day BETWEEN ? AND ? GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3`,
      )
      return statement.all(account, from, to)
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

function parametersOf(account: AccountId, filters: HistoryFilters, { above, below }: Stretch): Parameters {
  const { type, model = null, keyId: key = null, fromMs: from = null, beforeMs: before = null, text } = filters
  return {
    ...{ account, above, below, model, key, from, before },
    // A charge goes to the service.
    creditType: type ? creditTypes[type] : model === null ? null : none,
    debitType: type ? debitTypes[type] : null,
    text: text === undefined ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`,
    id: text ?? null,
  }
}

/** Only the filters that are given: what is not asked costs nothing. */
function sides(selected: string, given: Parameters): string {
  const filters = [
    'AND sequence > @above AND sequence < @below',
    given.model !== null && `AND type = 'inference' AND description = @model`,
    given.key !== null && 'AND key_id = @key',
    given.from !== null && 'AND at_ms >= @from',
    given.before !== null && 'AND at_ms < @before',
    given.text !== null && `AND (description LIKE @text ESCAPE '\\' OR id = @id)`,
  ]
  const where = filters.filter((it) => it !== false).join(' ')
  const debits = `SELECT ${selected} FROM credit_transfers AS entry
    WHERE debit_account = @account ${where} ${given.debitType === null ? '' : 'AND type = @debitType'}`
  const credits = `SELECT ${selected} FROM credit_transfers AS entry
    WHERE credit_account = @account AND credit_account <> '${revenueAccount}' ${where}
      ${given.creditType === null ? '' : 'AND type = @creditType'}`
  if (given.creditType === none) return debits
  return given.debitType === none ? credits : `${debits} UNION ALL ${credits}`
}
