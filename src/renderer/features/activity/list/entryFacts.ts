import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { describeDecider } from './describeRow.ts'

type Detail = TimelineEntry['detail']
export type EntryFact = { name: string; value: string; isCode?: boolean }

const formatAmount = (value: Detail[string]): string =>
  /^\d+$/.test(String(value)) ? formatUsd(String(value), 'exact') : String(value)

/** Fields of an entry to display, in this order. All others appear only in the raw entry. */
const readable: Readonly<
  Record<string, { name: string; words?: (value: Detail[string]) => string; isCode?: boolean }>
> = {
  command: { name: 'Command', isCode: true },
  sandbox_name: { name: 'Sandbox' },
  asker_name: { name: 'Requested by' },
  amount_micro_usd: { name: 'Amount', words: formatAmount },
  max_amount_micro_usd: { name: 'Up to', words: formatAmount },
  host: { name: 'Site' },
  account: { name: 'Account', isCode: true },
  decided_by: { name: 'Decided by', words: describeDecider },
  confirm_above_micro_usd: { name: 'Extra confirmation above', words: formatAmount },
  expiry_minutes: { name: 'Requests expire after', words: (value) => `${String(value)} minutes` },
  times: { name: 'Times left' },
  until: { name: 'Until', words: (value) => new Date(String(value)).toLocaleString() },
  denied: { name: 'Requests denied' },
  reason: { name: 'Reason' },
}

export function listEntryFacts(detail: Detail): EntryFact[] {
  return Object.entries(readable).flatMap(([field, { name, words = String, isCode = false }]) => {
    const value = detail[field]
    return value === undefined || value === null ? [] : [{ name, value: words(value), isCode }]
  })
}
