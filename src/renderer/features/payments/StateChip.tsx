import type { Payment } from '#shared/contract/paymentRecords.ts'
import { joinClassNames } from '../../ui/classNames.ts'
import type { Tone } from '../../ui/StatusDot.tsx'
import { describePayment } from './describePayment.ts'

const looks: Readonly<Record<Tone, string>> = {
  neutral: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent',
  positive: 'bg-positive-soft text-positive',
  caution: 'bg-caution-soft text-caution',
  negative: 'bg-negative-soft text-negative',
}

export function StateChip({ payment }: { payment: Pick<Payment, 'state' | 'paid' | 'error'> }) {
  const { tone, words } = describePayment(payment)
  return (
    <span className={joinClassNames('shrink-0 rounded-full px-2 text-small whitespace-nowrap', looks[tone])}>
      {words}
    </span>
  )
}

/** Marks test money, so that it is not mistaken for real money. */
export function TestChip() {
  return <span className="shrink-0 rounded-full border border-line px-1.5 text-small text-muted">Test money</span>
}
