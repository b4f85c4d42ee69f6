import { setImmediate } from 'node:timers/promises'
import type { CreditTransaction } from '../../../shared/contract/credits.ts'
import { csvLine } from '../../platform/csvCell.ts'

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
/** Read at once, before others have their turn. */
export const rowsAtOnce = 200

/** Reads on as the client takes it, so that no history is too long. */
export async function* historyCsv(
  older: (than: number) => { sequence: number; transaction: CreditTransaction }[],
): AsyncGenerator<string> {
  yield csvLine([...columns, 'details'])
  let last = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = older(last)
    if (rows.length > 0) yield rows.map(({ transaction }) => lineOf(transaction)).join('')
    last = rows.at(-1)?.sequence ?? 0
    if (rows.length < rowsAtOnce) return
    await setImmediate()
  }
}

function lineOf(transaction: CreditTransaction): string {
  const { metadata } = transaction
  const cells = columns.map((name) => transaction[name] ?? '')
  return csvLine([...cells, metadata ? JSON.stringify(metadata) : ''])
}
