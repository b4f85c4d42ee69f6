import { StatusDot, type Tone } from '#renderer/ui/StatusDot.tsx'
import type { CheckedDomain } from '#shared/contract/domainSearch.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'

const words: Readonly<Record<CheckedDomain['status'], { tone: Tone; text: string }>> = openRecord(
  {
    available: { tone: 'positive', text: 'Available' },
    taken: { tone: 'neutral', text: 'Taken' },
    unknown: { tone: 'caution', text: 'Unknown' },
  },
  (word) => ({ tone: 'neutral', text: toPlainWord(word) }),
)

type AvailabilityProps = Pick<CheckedDomain, 'domain' | 'unicode' | 'status' | 'premium' | 'warning' | 'error'>

export function Availability({ domain, unicode, status, premium, warning, error }: AvailabilityProps) {
  const { tone, text } = words[status]
  const note = warning ?? error
  return (
    <>
      <span className="min-w-0">
        <span className="flex min-w-0 items-baseline gap-2">
          <bdi className="truncate font-medium">{unicode}</bdi>
          {unicode !== domain && <span className="truncate font-mono text-small text-faint">{domain}</span>}
          {premium && <span className="shrink-0 rounded-full border border-line px-1.5 text-small">Premium</span>}
        </span>
        {note !== undefined && <span className="block text-small text-caution">{note}</span>}
      </span>
      <span className="flex items-center gap-1.5 text-muted">
        <StatusDot tone={tone} />
        {text}
      </span>
    </>
  )
}

export function formatPrice(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return '—'
  return formatUsd(usd * 1_000_000, 'cents')
}
