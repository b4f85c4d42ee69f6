import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { DomainRenewal } from '#shared/contract/domainRenewals.ts'
import { toPlainWord } from '#shared/openRecord.ts'

export function getRenewalBadge(
  renewal: Pick<DomainRenewal, 'state'> | undefined,
): { tone: Tone; text: string } | undefined {
  switch (renewal?.state) {
    case undefined:
    case 'off':
      return undefined
    case 'planned':
    case 'renewed':
      return { tone: 'positive', text: 'On' }
    case 'paying':
      return { tone: 'caution', text: 'Paying' }
    case 'asking':
      return { tone: 'caution', text: 'Needs you' }
    case 'declined':
      return { tone: 'caution', text: 'Declined' }
    case 'blocked':
      return { tone: 'negative', text: 'Blocked' }
    case 'credited':
    case 'expired':
      return { tone: 'negative', text: 'Failed' }
    default:
      return { tone: 'neutral', text: toPlainWord(renewal?.state ?? '') }
  }
}

export function describeRenewal(renewal: DomainRenewal | undefined): string {
  switch (renewal?.state) {
    case undefined:
    case 'off':
      return 'Off. Steward does not renew this domain.'
    case 'planned':
      return `Renews on ${formatDay(renewal.next_at ?? renewal.renews_at)} for ${formatYears(renewal.years)}.`
    case 'paying':
      return 'Payment in progress.'
    case 'asking':
      return 'The renewal needs your approval.'
    case 'renewed':
      return 'Renewed.'
    case 'declined':
      return 'You denied this renewal. Change auto-renew to try again.'
    case 'blocked':
      return renewal.next_at === null
        ? 'Not renewed yet.'
        : `Not renewed yet. Next try on ${timeText(renewal.next_at)}.`
    case 'credited':
      return 'Paid, but not renewed.'
    case 'expired':
      return 'The domain expired too long ago to renew.'
    default:
      return `${toPlainWord(renewal?.state ?? '')}.`
  }
}

export function formatYears(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}

export function formatDay(at: string): string {
  return new Date(at).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' })
}

function timeText(at: string): string {
  return new Date(at).toLocaleString('en', { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' })
}
