import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { exportPayments } from '#shared/contract/localPayments.ts'
import { buildRequest } from '#shared/contract/route.ts'
import type { PaymentQuery } from '../usePayments.ts'

export function downloadPayments(query: PaymentQuery): void {
  const link = document.createElement('a')
  link.href = signWindowUrl(buildRequest(exportPayments, query).path)
  link.download = 'steward-payments.csv'
  link.click()
}
