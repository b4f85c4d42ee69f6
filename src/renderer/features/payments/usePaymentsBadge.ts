import type { Badge } from '../../ui/feature.ts'
import { useLivePayments, useUnclearCount } from './usePayments.ts'

/** Payments of which nobody knows yet whether they were made. */
export function usePaymentsBadge(): Badge | undefined {
  useLivePayments()
  const count = useUnclearCount()
  return count === 0 ? undefined : { count, words: count === 1 ? '1 is unclear' : `${count} are unclear` }
}
