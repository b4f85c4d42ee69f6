import type { CachedSource } from '#shared/contract/localDomains.ts'
import { openRecord } from '#shared/openRecord.ts'
import { StatusDot, type Tone } from '../../ui/StatusDot.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'

const words: Readonly<Record<CachedSource, { tone: Tone; text: string }>> = openRecord(
  {
    live: { tone: 'positive', text: 'Updated' },
    cache: { tone: 'positive', text: 'Updated' },
    stale: { tone: 'caution', text: 'Registrar not responding · updated' },
    offline: { tone: 'negative', text: 'Offline · updated' },
  },
  () => ({ tone: 'caution', text: 'Updated' }),
)

/** Age of the displayed data, and why it is not more recent. */
export function SourceNotice({ source, asOf }: { source: CachedSource; asOf: string }) {
  const { tone, text } = words[source]
  return (
    <span data-source={source} className="inline-flex min-w-0 items-center gap-1.5 text-small text-muted">
      <StatusDot tone={tone} />
      <span className="truncate">{text}</span>
      <TimeAgo at={asOf} spelled />
    </span>
  )
}
