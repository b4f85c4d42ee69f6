import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatAxisCents } from '../creditText.ts'
import { chartFill, chartMark } from './chartColors.ts'
import { computeScale, type DayBar, formatDayName } from './dailySeries.ts'

const height = 100
const gap = 0.14

/**
 * Bar chart of spending with one bar per day, stacked by model. The pointer or the arrow keys select a day; Enter or a
 * click shows its charges. The adjacent table contains the same data.
 */
export function DailyChart({ days, onDay }: { days: readonly DayBar[]; onDay: (day: string) => void }) {
  // Identified by day, because indexes shift when the period changes.
  const [activeDay, setActiveDay] = useState<string>()
  const { top, lines } = computeScale(days)
  const place = days.findIndex(({ day }) => day === activeDay)
  const active = place < 0 ? undefined : place
  const activeBar = active === undefined ? undefined : days[active]
  const last = days.length - 1
  const setActive = (at: number | undefined) => setActiveDay(at === undefined ? undefined : days[at]?.day)

  const onKeyDown = (event: KeyboardEvent) => {
    const at = active ?? last
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (event.key === 'Escape') setActive(undefined)
    if (event.key === 'Enter' && activeBar) onDay(activeBar.day)
    if (next === undefined) return
    event.preventDefault()
    setActive(Math.min(last, Math.max(0, next)))
  }
  const onPointerMove = ({ currentTarget, clientX }: PointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    setActive(Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * days.length))))
  }

  return (
    <div className="min-w-0">
      <div className="flex gap-2">
        <div aria-hidden className="relative h-44 w-12 wide:h-56 shrink-0 text-right text-tiny text-faint tabular-nums">
          {[0, ...lines].map((line) => (
            <span key={line} className="absolute right-0 translate-y-1/2" style={{ bottom: `${(line / top) * 100}%` }}>
              {formatAxisCents(line, top)}
            </span>
          ))}
        </div>
        <div
          role="slider"
          tabIndex={0}
          aria-label="Spending by day"
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={active ?? last}
          aria-valuetext={describeBar(activeBar ?? days[last])}
          onKeyDown={onKeyDown}
          onFocus={(event) => event.currentTarget.matches(':focus-visible') && setActive(active ?? last)}
          onBlur={() => setActive(undefined)}
          onPointerMove={onPointerMove}
          onPointerLeave={() => setActive(undefined)}
          onClick={() => activeBar && onDay(activeBar.day)}
          className="relative h-44 min-w-0 wide:h-56 flex-1 cursor-pointer rounded-small"
        >
          {[0, ...lines].map((line) => (
            <span
              key={line}
              aria-hidden
              className="absolute inset-x-0 border-t border-line"
              style={{ bottom: `${(line / top) * 100}%` }}
            />
          ))}
          {active !== undefined && (
            <span
              aria-hidden
              className="absolute inset-y-0 rounded-small bg-hover"
              style={{ left: `${(active / days.length) * 100}%`, width: `${100 / days.length}%` }}
            />
          )}
          <svg
            aria-hidden="true"
            viewBox={`0 0 ${days.length} ${height}`}
            preserveAspectRatio="none"
            className="absolute inset-0 size-full"
          >
            {days.map((bar, at) => (
              <Bar key={bar.day} bar={bar} at={at} top={top} />
            ))}
          </svg>
          {activeBar && active !== undefined && <DayHint bar={activeBar} share={(active + 0.5) / days.length} />}
        </div>
      </div>
      <div aria-hidden className="mt-1.5 ml-14 flex justify-between text-tiny text-faint tabular-nums">
        {pickTicks(days).map(({ day }) => (
          <span key={day}>{formatDayName(day, 'short')}</span>
        ))}
      </div>
    </div>
  )
}

function Bar({ bar, at, top }: { bar: DayBar; at: number; top: number }) {
  let below = height
  return bar.parts.map(({ series, cents }) => {
    const size = (cents / top) * height
    below -= size
    return (
      <rect
        key={series.name}
        x={at + gap / 2}
        width={1 - gap}
        y={below}
        height={size}
        className={chartFill[series.color]}
      />
    )
  })
}

const hintParts = 6

function DayHint({ bar, share }: { bar: DayBar; share: number }) {
  const parts = bar.parts.slice(0, hintParts)
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute top-1 z-10 w-56 rounded-card bg-raised p-2.5 text-small shadow-popover"
      style={share < 0.5 ? { left: `calc(${share * 100}% + 12px)` } : { right: `calc(${(1 - share) * 100}% + 12px)` }}
    >
      <p className="flex justify-between gap-3 font-medium text-text">
        <span>{formatDayName(bar.day)}</span>
        <span className="tabular-nums">{formatUsdCents(bar.cents)}</span>
      </p>
      {parts.map(({ series, cents }) => (
        <p key={series.name} className="mt-1 flex items-center gap-1.5 text-muted">
          <span className={joinClassNames('size-2 shrink-0 rounded-full', chartMark[series.color])} />
          <span className="min-w-0 flex-1 truncate">{series.label}</span>
          <span className="tabular-nums">{formatUsdCents(cents)}</span>
        </p>
      ))}
      {bar.parts.length > parts.length && <p className="mt-1 text-faint">and {bar.parts.length - parts.length} more</p>}
      {bar.parts.length === 0 && <p className="mt-1 text-faint">Nothing spent</p>}
    </div>
  )
}

function describeBar(bar: DayBar | undefined): string {
  if (!bar) return ''
  const parts = bar.parts.map(({ series, cents }) => `${series.label} ${formatUsdCents(cents)}`)
  return [`${formatDayName(bar.day)}: ${formatUsdCents(bar.cents)}`, ...parts].join(', ')
}

/** Returns the first, middle and last day, whose labels always fit. */
function pickTicks(days: readonly DayBar[]): DayBar[] {
  const places = new Set([0, Math.floor((days.length - 1) / 2), days.length - 1])
  return [...places].flatMap((place) => days[place] ?? [])
}
