import { CircleAlert, OctagonX } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { LimitState } from '#shared/contract/chats.ts'
import { describeBudget } from './formatEstimate.ts'

type BudgetBannerProps = { budget: readonly LimitState[]; onChange: () => void }

/** Banner above the composer when a limit is nearly or fully used. */
export function BudgetBanner({ budget, onChange }: BudgetBannerProps) {
  const notice = describeBudget(budget)
  if (!notice) return null
  const isStopped = notice.state === 'stopped'
  const Icon = isStopped ? OctagonX : CircleAlert
  return (
    <div
      role={isStopped ? 'alert' : 'status'}
      className={joinClassNames(
        'mb-2 flex flex-wrap items-center gap-x-2.5 gap-y-1 rounded-card border border-line px-3 py-1.5',
        isStopped ? 'bg-negative-soft' : 'bg-caution-soft',
      )}
    >
      <Icon aria-hidden className={joinClassNames('size-4 shrink-0', isStopped ? 'text-negative' : 'text-caution')} />
      <p className="min-w-48 flex-1">
        <span className="font-medium">{notice.title}</span> <span className="text-muted">{notice.hint}</span>
      </p>
      <Button size="small" onClick={onChange}>
        Change limits
      </Button>
    </div>
  )
}
