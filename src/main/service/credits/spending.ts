import { AppError } from '#shared/appError.ts'
import { creditLimits, type SpendingGroup, type SpendingGrouping } from '#shared/contract/credits.ts'
import { toExactCents } from '#shared/microUsd.ts'
import type { SumRow } from './historyRepository.ts'

const dayMs = 24 * 60 * 60_000
const defaultDays = 30

export type SpendingDays = { from: number; to: number }

/** Converts dates to days since 1970. @throws AppError `request/invalid` */
export function toSpendingDays(
  range: { from: string | undefined; to: string | undefined },
  nowMs: number,
): SpendingDays {
  const to = range.to === undefined ? Math.floor(nowMs / dayMs) : toDay(range.to)
  const from = range.from === undefined ? to - defaultDays + 1 : toDay(range.from)
  if (from > to) throw new AppError('request/invalid', '`from` must not be after `to`.')
  if (to - from >= creditLimits.spendingDays) {
    throw new AppError('request/invalid', `\`from\` and \`to\` must span at most ${creditLimits.spendingDays} days.`)
  }
  return { from, to }
}

export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Sums rows by day, model or key, and in total. */
export function sumSpending(
  rows: readonly SumRow[],
  by: SpendingGrouping,
): { groups: SpendingGroup[]; total: SpendingGroup } {
  const groups = new Map<string, Sums>()
  const total = createEmptySums({ day: null, model: null, keyId: null })
  for (const row of rows) {
    if (row.type === 'grant' || row.type === 'top_up' || row.type === 'adjustment') continue
    const name = JSON.stringify([row.day, row.model, row.keyId])
    const group = groups.get(name) ?? createEmptySums(row)
    groups.set(name, group)
    add(group, row)
    add(total, row)
  }
  const listed = [...groups.values()].map(toWire)
  const byDay = by.startsWith('day')
  return { groups: byDay ? listed : listed.sort((a, b) => b.spent_cents - a.spent_cents), total: toWire(total) }
}

type Sums = Pick<SumRow, 'day' | 'model' | 'keyId'> & Record<Sum, number>
type Sum = 'requests' | 'inference' | 'sandboxes' | 'refunds' | 'sent' | 'received'

function createEmptySums({ day, model, keyId }: Pick<SumRow, 'day' | 'model' | 'keyId'>): Sums {
  return { day, model, keyId, requests: 0, inference: 0, sandboxes: 0, refunds: 0, sent: 0, received: 0 }
}

function add(sums: Sums, { type, transfers, debits, credits }: SumRow): void {
  if (type === 'inference') {
    sums.requests += transfers
    sums.inference += debits
  }
  if (type === 'sandbox') sums.sandboxes += debits
  if (type === 'refund') sums.refunds += credits
  if (type === 'transfer') {
    sums.sent += debits
    sums.received += credits
  }
}

function toWire({ day, model, keyId, requests, inference, sandboxes, refunds, sent, received }: Sums): SpendingGroup {
  return {
    day: day === null ? null : formatDay(day),
    model,
    key_id: keyId,
    requests,
    inference_cents: toExactCents(inference),
    sandboxes_cents: toExactCents(sandboxes),
    refunds_cents: toExactCents(refunds),
    spent_cents: toExactCents(inference + sandboxes - refunds),
    sent_cents: toExactCents(sent),
    received_cents: toExactCents(received),
  }
}

function toDay(text: string): number {
  return Math.floor(Date.parse(`${text}T00:00:00.000Z`) / dayMs)
}
