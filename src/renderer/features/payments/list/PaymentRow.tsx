import { CreditCard, Globe, type LucideIcon, RefreshCw, Waypoints } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { describeRequester } from '#shared/contract/describeRequester.ts'
import type { Payment, PaymentPurpose } from '#shared/contract/paymentRecords.ts'
import { openRecord } from '#shared/openRecord.ts'
import { formatAmount } from '../describePayment.ts'
import { StateChip } from '../StateChip.tsx'

export const purposeIcons: Readonly<Record<PaymentPurpose, LucideIcon>> = openRecord(
  {
    fetch: Waypoints,
    'domain-registration': Globe,
    'domain-renewal': RefreshCw,
    credits: CreditCard,
  },
  () => CreditCard,
)

export function PaymentRow({ payment }: { payment: Payment }) {
  const { id, purpose, title, requester, paid, test, created_at: createdAt } = payment
  const seller = purpose === 'fetch' ? payment.host : 'Your service'
  const Icon = purposeIcons[purpose]
  return (
    <li>
      <a
        href={buildAddress('payments', id)}
        className="flex min-h-9 items-center gap-3 px-3.5 py-1.5 hover:bg-hover focus-visible:-outline-offset-2"
      >
        <span
          className={joinClassNames(
            'w-20 shrink-0 text-right tabular-nums',
            paid === false ? 'text-faint' : 'font-medium',
          )}
        >
          {formatAmount(payment)}
        </span>
        <span className="flex w-26 shrink-0">
          <StateChip payment={payment} />
        </span>
        <Icon aria-hidden className="size-4 shrink-0 text-faint" />
        <span className="min-w-0 flex-1 truncate" title={title}>
          {title}
        </span>
        {test && <span className="shrink-0 text-small text-faint">Test money</span>}
        <span className="w-40 shrink-0 truncate text-small text-muted max-wide:hidden" title={payment.host}>
          {seller}
        </span>
        <span className="w-28 shrink-0 truncate text-small text-muted max-wide:hidden">
          {requester.kind === 'person' ? 'You' : describeRequester(requester).name}
        </span>
        <span className="w-12 shrink-0 text-right">
          <TimeAgo at={createdAt} />
        </span>
      </a>
    </li>
  )
}
