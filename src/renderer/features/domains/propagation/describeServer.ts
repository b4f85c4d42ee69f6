import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { PropagatedRecords } from '#shared/contract/localDomains.ts'

type ServerText = { tone: Tone; text: string }

/** Summarizes a server's records in one line. */
export function describeServer(records: readonly PropagatedRecords[]): ServerText {
  const count = (state: PropagatedRecords['state']) => records.filter((it) => it.state === state).length
  const failed = records.filter(({ state }) => state === 'failed')
  if (records.length === 0) return { tone: 'neutral', text: 'Nothing to compare' }
  if (failed.length === records.length)
    return { tone: 'neutral', text: failed[0]?.detail ?? 'The server did not respond.' }
  const behind = count('other') + count('missing')
  if (behind === 0 && failed.length === 0) return { tone: 'positive', text: `All ${records.length} up to date` }
  const parts = [
    ...(count('other') > 0 ? [`${count('other')} different`] : []),
    ...(count('missing') > 0 ? [`${count('missing')} missing`] : []),
    ...(failed.length > 0 ? [`${failed.length} without an answer`] : []),
  ]
  return { tone: 'caution', text: `${count('same')} of ${records.length} up to date · ${parts.join(', ')}` }
}

/** Formats the time for which a resolver may cache a record, such as `5 min` or `2 h`. */
export function formatTtl(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`
  return `${Math.ceil(seconds / 3_600)} h`
}
