import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Skeleton } from '#renderer/ui/Skeleton.tsx'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { toIsoDay } from '../spending/dailySeries.ts'
import { useCreditBalance, useSpending } from '../useCredits.ts'

/** Remaining balance and how long it lasts. */
export function BalanceCard({ isEmbedded }: { isEmbedded: boolean }) {
  const { data, error, isPending, refetch } = useCreditBalance()
  const today = toIsoDay(Date.now())
  const spentToday = useSpending({ from: today, to: today, by: 'day' }).data?.total.spent_cents
  return (
    <section aria-label="Balance" className="rounded-card border border-line bg-panel">
      <div className="flex flex-wrap gap-x-10 gap-y-3 p-4">
        <Figure label="Available" cents={data?.available_cents} isPending={isPending} />
        <Figure label="Balance" cents={data?.balance_cents} isPending={isPending} />
        <Figure label="Held" cents={data?.held_cents} isPending={isPending} />
        <Figure label="Spent today" cents={spentToday} isPending={isPending} />
      </div>
      <p className="border-t border-line px-4 py-2.5 text-small text-muted">
        {isEmbedded
          ? 'No money moves here: your providers bill you as usual. Requests stop when the balance is used up. You can adjust it at any time.'
          : 'Credits granted by this service or paid for by you. Requests stop when the balance is used up.'}{' '}
        Held is set aside for running requests until their cost is known.
      </p>
      {error && !data && (
        <div className="border-t border-line p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </section>
  )
}

type FigureProps = { label: string; cents: number | undefined; isPending: boolean }

function Figure({ label, cents, isPending }: FigureProps) {
  return (
    <div className="min-w-24">
      <p className="text-small text-faint">{label}</p>
      {isPending ? (
        <Skeleton className="mt-1.5 h-5 w-24" />
      ) : (
        <output aria-label={label} className="block text-large font-semibold text-text tabular-nums">
          {cents === undefined ? '–' : formatUsdCents(cents)}
        </output>
      )}
    </div>
  )
}
