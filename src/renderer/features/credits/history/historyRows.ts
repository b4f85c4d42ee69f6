import type { CreditTransaction, listTransactions } from '#shared/contract/credits.ts'
import type { Output } from '#shared/contract/route.ts'

export type HistoryPage = Output<typeof listTransactions>

/**
 * Returns the transactions of these pages by index in a history of `total` transactions, newest first. Transactions are
 * only added at the front, so a page read earlier is shifted by the number added since.
 */
export function indexRows(pages: readonly HistoryPage[], total: number): ReadonlyMap<number, CreditTransaction> {
  const placed = pages.flatMap(({ transactions, offset, total: then }) =>
    transactions.map((transaction, index) => [offset + index + total - then, transaction] as const),
  )
  return new Map(placed)
}
