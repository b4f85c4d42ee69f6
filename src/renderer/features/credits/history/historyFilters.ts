import { z } from 'zod'
import { type listTransactions, TransactionType } from '#shared/contract/credits.ts'
import type { Input } from '#shared/contract/route.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { toIsoTime } from '#shared/time.ts'

export const typeLabels: Record<TransactionType, string> = openRecord(
  {
    inference: 'Models',
    sandbox: 'Sandbox',
    transfer_in: 'Received',
    transfer_out: 'Sent',
    grant: 'Grant',
    top_up: 'Top-up',
    adjustment: 'Adjustment',
    refund: 'Refund',
  },
  toPlainWord,
)
// Sorted in display order.
export const transactionTypes = Object.keys(typeLabels) as TransactionType[]

export const historyPeriods = ['any', 'today', 'week', 'month', 'between'] as const
export type HistoryPeriod = (typeof historyPeriods)[number]
export const periodLabels: Record<HistoryPeriod, string> = {
  any: 'Any time',
  today: 'Today',
  week: 'Last 7 days',
  month: 'Last 30 days',
  between: 'Custom dates',
}

export const HistoryFilters = z.object({
  text: z.string(),
  type: z.enum(['all', ...TransactionType.options]),
  /** Empty matches all. */
  model: z.string(),
  key: z.string(),
  period: z.enum(historyPeriods),
  /** UTC days, as in the chart, used for `between`. Empty means unbounded. */
  from: z.string(),
  to: z.string(),
})
export type HistoryFilters = z.infer<typeof HistoryFilters>
export const noHistoryFilters: HistoryFilters = {
  ...{ text: '', type: 'all', model: '', key: '', period: 'any', from: '', to: '' },
}

export type HistoryQuery = Omit<Input<typeof listTransactions>, 'limit' | 'offset'>

const dayMs = 24 * 60 * 60_000
const daysBack = { today: 0, week: 6, month: 29 } as const

export function toHistoryQuery({ text, type, model, key, ...times }: HistoryFilters, nowMs: number): HistoryQuery {
  const { from, to } = resolvePeriod(times, nowMs)
  return {
    ...(text.trim() !== '' && { text: text.trim() }),
    ...(type !== 'all' && { type }),
    ...(model !== '' && { model }),
    ...(key !== '' && { key }),
    ...(from !== undefined && { from: toIsoTime(from) }),
    ...(to !== undefined && { to: toIsoTime(to) }),
  }
}

export function isFilteredHistory(query: HistoryQuery): boolean {
  return Object.keys(query).length > 0
}

type Times = Pick<HistoryFilters, 'period' | 'from' | 'to'>

function resolvePeriod(
  { period, from, to }: Times,
  nowMs: number,
): { from?: number | undefined; to?: number | undefined } {
  if (period === 'any') return {}
  if (period === 'between') return { from: toMidnight(from), to: addDay(toMidnight(to)) }
  const today = Math.floor(nowMs / dayMs) * dayMs
  return { from: today - daysBack[period] * dayMs }
}

function toMidnight(day: string): number | undefined {
  const at = Date.parse(`${day}T00:00:00.000Z`)
  return Number.isNaN(at) ? undefined : at
}

function addDay(at: number | undefined): number | undefined {
  return at === undefined ? undefined : at + dayMs
}
