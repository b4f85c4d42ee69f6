import type { Payment } from '#shared/contract/paymentRecords.ts'
import { formatCsvLine } from '#shared/csv.ts'

const columns = [
  ...[
    'id',
    'created_at',
    'updated_at',
    'state',
    'paid',
    'purpose',
    'title',
    'amount_usd',
    'paid_usd',
    'network',
    'test',
  ],
  ...['from', 'pay_to', 'host', 'method', 'url', 'transaction', 'requester', 'reason', 'error', 'intent_id'],
] as const

/**
 * Formats CSV (RFC 4180). Amounts are in dollars. Cells are escaped so that spreadsheets do not treat them as formulas.
 */
export function* formatPaymentCsv(payments: Iterable<Payment>): Generator<string> {
  yield formatCsvLine(columns)
  for (const payment of payments) {
    const { amount_micro_usd: amount, paid_micro_usd: paid, requester, ...fields } = payment
    const cells: Readonly<Record<string, string | number | boolean | null>> = {
      ...fields,
      amount_usd: amount / 1_000_000,
      paid_usd: paid === null ? null : paid / 1_000_000,
      requester: requester.name,
    }
    yield formatCsvLine(columns.map((name) => toCell(cells[name])))
  }
}

export function* formatPaymentLines(payments: Iterable<Payment>): Generator<string> {
  for (const payment of payments) yield `${JSON.stringify(payment)}\n`
}

function toCell(value: string | number | boolean | null | undefined): string | number {
  if (value === null || value === undefined) return ''
  return typeof value === 'number' ? value : String(value)
}
