import type { CreditTransaction } from '#shared/contract/credits.ts'
import { formatCsvLine } from '#shared/csv.ts'

/** In the CSV, in this order; the fields of a charge that people ask about stand in columns of their own. */
const columns = [
  'created_at',
  'type',
  'description',
  'amount_cents',
  'balance_after_cents',
  'refunded_cents',
  'key_id',
  'id',
] as const
/** Reads on as the client takes it, so that no history is too long. */
export async function* historyCsv(pages: AsyncIterable<readonly CreditTransaction[]>): AsyncGenerator<string> {
  yield formatCsvLine([...columns, 'details'])
  for await (const transactions of pages) yield transactions.map(toLine).join('')
}

function toLine(transaction: CreditTransaction): string {
  const { metadata } = transaction
  const cells = columns.map((name) => transaction[name] ?? '')
  return formatCsvLine([...cells, metadata ? JSON.stringify(metadata) : ''])
}
