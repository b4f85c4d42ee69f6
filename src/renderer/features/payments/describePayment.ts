import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import type { Payment, PaymentPurpose, PaymentState } from '#shared/contract/paymentRecords.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { openRecord, plainWord } from '#shared/openRecord.ts'
import { shortAddress } from '#shared/shortAddress.ts'
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
    unknown: { tone: 'caution', words: 'Unclear' },
    reconciled: { tone: 'neutral', words: 'Not paid' },
  },
  (word) => ({ tone: 'neutral', words: plainWord(word) }),
)

export function describePayment({ state, paid, error }: Pick<Payment, 'state' | 'paid' | 'error'>): StateText {
  // The money moved, but the seller did not deliver.
  if (paid === true && state === 'settled' && error !== null) return { tone: 'caution', words: 'Paid, failed' }
  if (paid === true && (state === 'reconciled' || state === 'settled')) return { tone: 'positive', words: 'Paid' }
  // The seller rejected the payment: until the signature expires, the money could still move.
  if (paid === null && state === 'refused') return { tone: 'caution', words: 'Unclear' }
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
    unknown: 'Unclear',
    reconciled: 'Cleared up later',
  },
  plainWord,
)

export const purposeLabels: Readonly<Record<PaymentPurpose, string>> = openRecord(
  {
    fetch: 'Web request',
    'domain-registration': 'Domain',
    'domain-renewal': 'Domain renewal',
    credits: 'Credits',
  },
  plainWord,
)

export function microText(microUsd: number): string {
  return formatUsd(String(microUsd), 'exact')
}

/** Formats an amount rounded to cents; `<$0.01` for less. */
export function centsOf(microUsd: number): string {
  if (microUsd > 0 && microUsd < 10_000) return '<$0.01'
  return microText(Math.round(microUsd / 10_000) * 10_000)
}

/** Formats the settled amount, else the requested one. */
export function amountText({ paid_micro_usd: paid, amount_micro_usd: amount }: PaymentAmounts): string {
  return microText(paid === null || paid === 0 ? amount : paid)
}
type PaymentAmounts = Pick<Payment, 'paid_micro_usd' | 'amount_micro_usd'>

/** Whom or what a limit is of. */
export function budgetTitle({ scope, key }: Pick<BudgetState, 'scope' | 'key'>): string {
  if (scope === 'payment') return 'One payment'
  if (scope === 'day') return 'Any 24 hours'
  if (scope === 'month') return 'This month'
  if (scope === 'host') return key ?? 'A site'
  return key === null ? 'A payee' : payeeText(key)
}

/** `0x1234…abcd on eip155:8453` */
export function payeeText(key: string): string {
  const at = key.lastIndexOf(':')
  return `${shortAddress(key.slice(at + 1))} on ${key.slice(0, at)}`
}
