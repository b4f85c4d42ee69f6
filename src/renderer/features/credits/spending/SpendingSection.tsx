import { useState } from 'react'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { useSpending } from '../useCredits.ts'
import { DailyChart } from './DailyChart.tsx'
import { DailyTable } from './DailyTable.tsx'
import { buildDailySeries, listDaysUntil, type SpendingPeriod, spendingPeriods } from './dailySeries.ts'
import { ModelBars } from './ModelBars.tsx'

const views = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
] as const
type View = (typeof views)[number]['value']

export function SpendingSection({ onDay }: { onDay: (day: string) => void }) {
  const [period, setPeriod] = useState<SpendingPeriod>('30')
  const [view, setView] = useState<View>('chart')
  const { data, error, refetch } = useSpending({ ...listDaysUntil(Date.now(), period), by: 'day,model' })
  return (
    <Panel
      title="Spending"
      note={data && <Sum spent={data.total.spent_cents} refunded={data.total.refunds_cents} />}
      actions={
        <>
          <ChoiceChips
            legend="Period"
            options={spendingPeriods.map(({ id, label }) => ({ value: id, label }))}
            value={period}
            onChange={setPeriod}
          />
          <span aria-hidden className="h-4 w-px bg-line" />
          <ChoiceChips legend="Show as" options={views} value={view} onChange={setView} />
        </>
      }
    >
      {data === undefined ? (
        <div className="p-4">
          {error ? (
            <ErrorNotice error={error} onRetry={() => void refetch()} />
          ) : (
            <SkeletonRows label="Loading spending…" count={4} rowClassName="h-8" />
          )}
        </div>
      ) : (
        <SpendingView {...buildDailySeries(data.groups, data)} view={view} onDay={onDay} />
      )}
    </Panel>
  )
}

function Sum({ spent, refunded }: { spent: number; refunded: number }) {
  return (
    <>
      <span className="font-medium text-text tabular-nums">{formatUsdCents(spent)}</span>
      {refunded > 0 && ` after ${formatUsdCents(refunded)} of refunds`} · days are in UTC
    </>
  )
}

type SpendingViewProps = ReturnType<typeof buildDailySeries> & { view: View; onDay: (day: string) => void }

function SpendingView({ days, series, view, onDay }: SpendingViewProps) {
  if (series.length === 0 && days.every(({ cents }) => cents === 0)) {
    return <NothingYet>Nothing spent in this period. Model costs appear here as they are charged.</NothingYet>
  }
  if (view === 'table') return <DailyTable days={days} series={series} />
  return (
    <div className="grid gap-x-8 gap-y-5 p-4 wide:grid-cols-[minmax(0,1fr)_20rem]">
      <DailyChart days={days} onDay={onDay} />
      <ModelBars series={series} />
    </div>
  )
}
