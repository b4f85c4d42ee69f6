import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { Domain } from '#shared/contract/domains.ts'
import { getExpiryMark } from './domainRows.ts'

/** Expiry date, with the number of remaining days if it is near. */
export function ExpiryText({ domain: of }: { domain: Pick<Domain, 'expires_at' | 'status'> }) {
  const mark = getExpiryMark(of, Date.now())
  return (
    <span className="inline-flex items-baseline gap-2 whitespace-nowrap tabular-nums">
      <time dateTime={of.expires_at} className={mark ? 'text-text' : 'text-muted'}>
        {of.expires_at.slice(0, 10)}
      </time>
      {mark && (
        <span
          className={joinClassNames(
            'rounded-full px-1.5 text-small',
            mark.tone === 'negative' ? 'bg-negative-soft text-negative' : 'bg-caution-soft text-caution',
          )}
        >
          {mark.text}
        </span>
      )}
    </span>
  )
}
