import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { exportTransactions } from '#shared/contract/credits.ts'
import { buildRequest } from '#shared/contract/route.ts'
import type { HistoryQuery } from './historyFilters.ts'

export function downloadHistory(query: HistoryQuery): void {
  const link = document.createElement('a')
  link.href = signWindowUrl(buildRequest(exportTransactions, query).path)
  link.download = 'steward-credits.csv'
  link.click()
}
