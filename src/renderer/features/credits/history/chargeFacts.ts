import type { CreditTransaction } from '#shared/contract/credits.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'

export type ChargeFact = { name: string; value: string }

const tokens = {
  input_tokens: 'Input',
  cache_read_tokens: 'Input from cache',
  cache_write_tokens: 'Input written to cache',
  output_tokens: 'Output',
  reasoning_tokens: 'Reasoning',
} as const
const standardFields: ReadonlySet<string> = new Set([
  ...Object.keys(tokens),
  ...['price_version', 'estimated', 'interrupted', 'uncollected_micro_usd'],
])
const microPerCent = 10_000

/**
 * Lists facts that explain the amount, most relevant first. Unknown fields from the service are shown under their
 * original names.
 */
export function chargeFacts({ metadata = {}, refunded_cents: refunded }: CreditTransaction): ChargeFact[] {
  const counts = Object.entries(tokens).flatMap(([field, label]) => {
    const count = metadata[field]
    return typeof count === 'number' && count > 0 ? [`${label} ${count.toLocaleString('en')}`] : []
  })
  const { price_version: version, interrupted, estimated, uncollected_micro_usd: uncollected } = metadata
  return [
    ...createFact('Tokens', counts.join(' · ')),
    ...createFact('Price version', version === undefined ? '' : String(version)),
    ...createFact('Estimate', interrupted ? estimates.interrupted : estimated ? estimates.estimated : ''),
    ...createFact('Not collected', typeof uncollected === 'number' ? formatUsdCents(uncollected / microPerCent) : ''),
    ...createFact('Refunded', refunded === undefined ? '' : formatUsdCents(refunded)),
    ...Object.entries(metadata)
      .filter(([field]) => !standardFields.has(field))
      .map(([field, value]) => ({ name: humanizeField(field), value: String(value) })),
  ]
}

export function getRefundableCents({ type, amount_cents, refunded_cents = 0 }: CreditTransaction): number {
  if (type !== 'inference' && type !== 'sandbox') return 0
  return Math.round((-amount_cents - refunded_cents) * microPerCent) / microPerCent
}

const estimates = {
  interrupted: 'Steward stopped before the response was complete. The maximum cost was charged.',
  estimated: 'The provider did not report all usage.',
}

function createFact(name: string, value: string): ChargeFact[] {
  return value === '' ? [] : [{ name, value }]
}

function humanizeField(field: string): string {
  const words = field.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
