import type { SpendingGroup } from '#shared/contract/credits.ts'

export const spendingPeriods = [
  { id: '7', label: '7 days', days: 7 },
  { id: '30', label: '30 days', days: 30 },
  { id: '90', label: '90 days', days: 90 },
  { id: '365', label: '12 months', days: 365 },
] as const
export type SpendingPeriod = (typeof spendingPeriods)[number]['id']

const dayMs = 24 * 60 * 60_000

/** Returns the first and last UTC day of a period that ends today, both inclusive. */
export function listDaysUntil(nowMs: number, period: SpendingPeriod): { from: string; to: string } {
  const days = spendingPeriods.find(({ id }) => id === period)?.days ?? 30
  return { from: toIsoDay(nowMs - (days - 1) * dayMs), to: toIsoDay(nowMs) }
}

/** Series with a separate color. All others are summed in `other`. Refunds reduce the day of their charge. */
export type Series = { name: string; label: string; cents: number; requests: number; color: Color }
export type Color = 1 | 2 | 3 | 4 | 5 | 'other'
export type DayBar = { day: string; parts: { series: Series; cents: number }[]; cents: number; requests: number }

const colors = [1, 2, 3, 4, 5] as const
const sandboxes = 'Sandboxes'

/** Builds one bar per day, including days without spending, and the series in descending order of cost. */
export function buildDailySeries(
  groups: readonly SpendingGroup[],
  { from, to }: { from: string; to: string },
): { days: DayBar[]; series: Series[] } {
  const named = groups.map((group) => ({ ...group, name: group.model ?? sandboxes }))
  const sums = new Map<string, { cents: number; requests: number }>()
  for (const { name, spent_cents, requests } of named) {
    const before = sums.get(name) ?? { cents: 0, requests: 0 }
    sums.set(name, { cents: before.cents + spent_cents, requests: before.requests + requests })
  }
  const ranked = [...sums].filter(([, { cents }]) => cents > 0).sort(([, one], [, other]) => other.cents - one.cents)
  const series = ranked.map(
    ([name, sum], place): Series => ({ name, label: name, ...sum, color: colors[place] ?? 'other' }),
  )
  const days = listDays(from, to).map((day): DayBar => {
    const ofDay = named.filter((it) => it.day === day)
    const parts = series
      .map((one) => ({ series: one, cents: sumGroups(ofDay.filter(({ name }) => name === one.name)) }))
      .filter(({ cents }) => cents > 0)
    return { day, parts, cents: sumGroups(ofDay), requests: ofDay.reduce((sum, it) => sum + it.requests, 0) }
  })
  return { days, series }
}

/** Returns a round upper bound for the highest bar, and the grid lines below it. */
export function computeScale(days: readonly DayBar[]): { top: number; lines: number[] } {
  const highest = Math.max(0, ...days.map(({ parts }) => parts.reduce((sum, { cents }) => sum + cents, 0)))
  if (highest === 0) return { top: 1, lines: [] }
  const power = 10 ** Math.floor(Math.log10(highest))
  const top = ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= highest) ?? 10) * power
  return { top, lines: [top / 2, top] }
}

export function toIsoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

const long = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const short = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** Formats a day such as `Nov 22, 2026` or `Nov 22`. */
export function formatDayName(day: string, length: 'long' | 'short' = 'long'): string {
  return (length === 'long' ? long : short).format(new Date(`${day}T00:00:00.000Z`))
}

function sumGroups(groups: readonly SpendingGroup[]): number {
  return groups.reduce((sum, { spent_cents }) => sum + spent_cents, 0)
}

function listDays(from: string, to: string): string[] {
  const days: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) days.push(toIsoDay(at))
  return days
}
