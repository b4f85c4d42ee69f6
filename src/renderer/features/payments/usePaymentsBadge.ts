import type { Badge } from '../../ui/feature.ts'
import { useLivePayments, useUnclearCount } from './usePayments.ts'

/** Payments with an unknown outcome. */
export function usePaymentsBadge(): Badge | undefined {
  useLivePayments()
  const count = useUnclearCount()
  return count === 0 ? undefined : { count, words: count === 1 ? '1 is unclear' : `${count} are unclear` }
}
