import { Download, Gauge, ReceiptText } from 'lucide-react'
import { lazy } from 'react'
import type { Badge, Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'
import { downloadPayments } from './list/downloadPayments.ts'
import { useUnclearCount } from './usePayments.ts'

const section = 'Payments'

export const paymentsFeature: Feature = {
  id: 'payments',
  title: 'Payments',
  icon: ReceiptText,
  letter: 'p',
  keywords: ['paid', 'receipts', 'usdc', 'x402', 'money', 'limits', 'budgets'],
  Screen: lazy(async () => ({ default: (await import('./PaymentsScreen.tsx')).PaymentsScreen })),
  useBadge: usePaymentsBadge,
  commands: [
    {
      id: 'payments.limits',
      title: 'Payment limits…',
      section,
      icon: Gauge,
      keywords: ['budget', 'cap', 'month', 'spend'],
      run: () => goTo('payments', 'limits'),
    },
    {
      id: 'payments.export',
      title: 'Export payments',
      section,
      icon: Download,
      keywords: ['csv', 'download'],
      run: () => downloadPayments({}),
    },
  ],
}

/** Returns a badge that counts payments with an unknown outcome. */
function usePaymentsBadge(): Badge | undefined {
  const count = useUnclearCount()
  return count === 0
    ? undefined
    : { count, words: count === 1 ? '1 has an unknown outcome' : `${count} have unknown outcomes` }
}
