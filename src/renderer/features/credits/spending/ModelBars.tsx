import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { chartMark } from './chartColors.ts'
import type { Series } from './dailySeries.ts'

const initialCount = 6

/** Legend of the chart with the total cost of each model in the period. */
export function ModelBars({ series }: { series: readonly Series[] }) {
  const [all, setAll] = useState(false)
  const maxCents = series[0]?.cents ?? 1
  const visible = all ? series : series.slice(0, initialCount)
  return (
    <div className="min-w-0">
      <h4 className="text-small text-faint">By model</h4>
      <ul className="mt-1.5 flex flex-col gap-2.5">
        {visible.map(({ name, label, cents, requests, color }) => (
          <li key={name}>
            <p className="flex items-baseline gap-2">
              <span className="min-w-0 flex-1 truncate" title={label}>
                {label}
              </span>
              {requests > 0 && (
                <span className="text-small text-faint tabular-nums">
                  {requests.toLocaleString('en')} {requests === 1 ? 'request' : 'requests'}
                </span>
              )}
              <span className="tabular-nums">{formatUsdCents(cents)}</span>
            </p>
            <span aria-hidden className="mt-1 block h-1.5 overflow-hidden rounded-full bg-hover">
              <span
                className={joinClassNames('block h-full rounded-full', chartMark[color])}
                style={{ width: `max(4px, ${(cents / maxCents) * 100}%)` }}
              />
            </span>
          </li>
        ))}
      </ul>
      {series.length > initialCount && (
        <Button size="small" variant="ghost" className="mt-2 -ml-2.5" onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${series.length}`}
        </Button>
      )}
    </div>
  )
}
