import { formatUsdCents } from '#shared/money/moneyText.ts'
import { type DayBar, formatDayName, type Series } from './dailySeries.ts'

/** Data of the chart as a table, newest first. Omits days without spending or requests. */
export function DailyTable({ days, series }: { days: readonly DayBar[]; series: readonly Series[] }) {
  const rows = days.filter(({ cents, requests }) => cents !== 0 || requests > 0).toReversed()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section className="max-h-96 overflow-auto" tabIndex={0} aria-label="Spending by day and model">
      <table className="w-full border-collapse text-right tabular-nums">
        <thead className="sticky top-0 bg-panel text-small text-faint">
          <tr>
            {['Day', 'Requests', ...series.map(({ label }) => label), 'Total'].map((title, place) => (
              <th
                key={title}
                scope="col"
                className={`border-b border-line px-3.5 py-1.5 font-medium whitespace-nowrap ${place === 0 ? 'text-left' : ''}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(({ day, requests, parts, cents }) => (
            <tr key={day}>
              <th scope="row" className="px-3.5 py-1.5 text-left font-medium whitespace-nowrap">
                {formatDayName(day)}
              </th>
              <td className="px-3.5 text-muted">{requests.toLocaleString('en')}</td>
              {series.map(({ name }) => {
                const part = parts.find((it) => it.series.name === name)
                return (
                  <td key={name} className="px-3.5 whitespace-nowrap text-muted">
                    {part ? formatUsdCents(part.cents) : '–'}
                  </td>
                )
              })}
              <td className="px-3.5 font-medium whitespace-nowrap">{formatUsdCents(cents)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
