import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import type { Payment, PaymentPurpose, PaymentState } from '#shared/contract/paymentRecords.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Tone } from '../../ui/StatusDot.tsx'

type StateText = { tone: Tone; words: string }

const states: Readonly<Record<PaymentState, StateText>> = openRecord(
  {
    planned: { tone: 'neutral', words: 'Checked' },
    waiting: { tone: 'accent', words: 'Needs approval' },
    signed: { tone: 'accent', words: 'Signed' },
    sent: { tone: 'accent', words: 'Paying' },
    settled: { tone: 'positive', words: 'Paid' },
    refused: { tone: 'neutral', words: 'Not paid' },
    unknown: { tone: 'caution', words: 'Outcome unknown' },
    reconciled: { tone: 'neutral', words: 'Not paid' },
  },
  (word) => ({ tone: 'neutral', words: toPlainWord(word) }),
)

export function describePayment({ state, paid, error }: Pick<Payment, 'state' | 'paid' | 'error'>): StateText {
  // Payment was settled, but the seller did not deliver.
  if (paid === true && state === 'settled' && error !== null) return { tone: 'caution', words: 'Paid, failed' }
  if (paid === true && (state === 'reconciled' || state === 'settled')) return { tone: 'positive', words: 'Paid' }
  // The seller rejected the payment. Until the signature expires, it may still be settled.
  if (paid === null && state === 'refused') return { tone: 'caution', words: 'Outcome unknown' }
  if (paid === false && state === 'settled') return { tone: 'neutral', words: 'Not paid' }
  return states[state]
}

export const stateLabels: Readonly<Record<PaymentState, string>> = openRecord(
  {
    planned: 'Checked',
    waiting: 'Needs approval',
    signed: 'Signed',
    sent: 'Paying',
    settled: 'Paid',
    refused: 'Not paid',
    unknown: 'Outcome unknown',
    reconciled: 'Reconciled',
  },
  toPlainWord,
)

export const purposeLabels: Readonly<Record<PaymentPurpose, string>> = openRecord(
  {
    fetch: 'Web request',
    'domain-registration': 'Domain',
    'domain-renewal': 'Domain renewal',
    credits: 'Credits',
  },
  toPlainWord,
)

export function formatMicroUsd(microUsd: number): string {
  return formatUsd(String(microUsd), 'exact')
}

/** Formats an amount rounded to cents; `<$0.01` for less. */
export function formatCents(microUsd: number): string {
  if (microUsd > 0 && microUsd < 10_000) return '<$0.01'
  return formatMicroUsd(Math.round(microUsd / 10_000) * 10_000)
}

/** Formats the settled amount, or the requested amount before settlement. */
export function formatAmount({ paid_micro_usd: paid, amount_micro_usd: amount }: PaymentAmounts): string {
  return formatMicroUsd(paid === null || paid === 0 ? amount : paid)
}
type PaymentAmounts = Pick<Payment, 'paid_micro_usd' | 'amount_micro_usd'>

/** Describes the scope of a budget. */
export function describeBudget({ scope, key }: Pick<BudgetState, 'scope' | 'key'>): string {
  if (scope === 'payment') return 'One payment'
  if (scope === 'day') return 'Any 24 hours'
  if (scope === 'month') return 'This month'
  if (scope === 'host') return key ?? 'A site'
  return key === null ? 'A payee' : formatPayee(key)
}

/** Formats a payee, such as `0x1234…abcd on eip155:8453`. */
export function formatPayee(key: string): string {
  const at = key.lastIndexOf(':')
  return `${shortenAddress(key.slice(at + 1))} on ${key.slice(0, at)}`
}
