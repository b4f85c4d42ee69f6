import type { CreditTransaction, listTransactions } from '#shared/contract/credits.ts'
import type { Output } from '#shared/contract/route.ts'

export type HistoryPage = Output<typeof listTransactions>

/**
 * The transactions of these pages, each by its place in a history of `total`, newest first. New ones are only added in
 * front, so a page that was read before they came is moved back by as many.
 */
export function indexRows(pages: readonly HistoryPage[], total: number): ReadonlyMap<number, CreditTransaction> {
  const placed = pages.flatMap(({ transactions, offset, total: then }) =>
    transactions.map((transaction, index) => [offset + index + total - then, transaction] as const),
  )
  return new Map(placed)
}
