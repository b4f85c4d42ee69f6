import { CircleCheck, CircleX, ShieldCheck } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import type { PaymentVerdict } from '#shared/contract/localPayments.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import { describeBudget, formatMicroUsd } from '../describePayment.ts'

type VerdictNoticeProps = { verdict: PaymentVerdict; budgets: readonly BudgetState[]; onLimits: () => void }

const looks = {
  allow: { Icon: CircleCheck, tone: 'text-positive', title: 'It is paid at once.' },
  ask: { Icon: ShieldCheck, tone: 'text-accent', title: 'You approve it in the next step.' },
  refuse: { Icon: CircleX, tone: 'text-negative', title: 'It would not be paid.' },
} as const

/** Policy's verdict on the payment before the user submits it. */
export function VerdictNotice({ verdict: { effect, detail }, budgets, onLimits }: VerdictNoticeProps) {
  const { Icon, tone, title } = looks[effect]
  const limited = budgets.filter((it) => it.left_micro_usd !== null && it.scope !== 'payment')
  return (
    <div role={effect === 'refuse' ? 'alert' : 'status'} data-effect={effect} className="flex items-start gap-2">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {effect !== 'ask' && <p className="text-muted break-words">{detail}</p>}
        {limited.length > 0 && (
          <p className="text-small text-faint tabular-nums">
            {limited.map((it) => `${describeBudget(it)}: ${formatMicroUsd(it.left_micro_usd ?? 0)} left`).join(' · ')}
          </p>
        )}
      </div>
      {effect === 'refuse' && (
        <Button size="small" onClick={onLimits}>
          Change limits
        </Button>
      )}
    </div>
  )
}
