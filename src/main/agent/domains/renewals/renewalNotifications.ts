import type { RenewalEvent } from './autoRenewals.ts'
import type { Notice } from './renewalRepository.ts'

export type RenewalNotification = { title: string; body: string; domain: string | null }

const maxNamed = 3

export function describeRenewal({ domain, state, problem }: RenewalEvent): string {
  if (state === 'renewed') return `Auto-renew renewed ${domain}.`
  return `Auto-renew could not renew ${domain}: ${problem?.detail ?? ''}`
}

export function describeRemovedDomain(domain: string): string {
  return `Auto-renew is on for ${domain}, but the domain is not in your account.`
}

/** Combines several events into one notification. */
export function createRenewalNotifications(news: readonly RenewalEvent[]): RenewalNotification[] {
  const failed = news.filter(({ problem }) => problem !== null)
  const renewed = news.filter(({ state }) => state === 'renewed')
  return [
    ...groupNotifications(failed, {
      single: ({ domain, problem }) => ({ title: `${domain} was not renewed`, body: problem?.detail ?? '' }),
      many: (count) => `${count} domains were not renewed`,
    }),
    ...groupNotifications(renewed, {
      single: ({ domain }) => ({ title: `${domain} was renewed`, body: 'Paid from your wallet.' }),
      many: (count) => `${count} domains were renewed`,
    }),
  ]
}

export function describeNotices(notices: readonly Notice[]): string {
  const [first] = notices
  if (notices.length === 1 && first) return `${first.domain} expires in ${describeDays(first)}.`
  return `${notices.length} domains expire soon: ${formatNames(notices)}.`
}

export function createExpiryNotifications(notices: readonly Notice[]): RenewalNotification[] {
  return groupNotifications(notices, {
    single: (notice) => ({
      title: `${notice.domain} expires in ${describeDays(notice)}`,
      body: 'Renew it, or turn on auto-renew.',
    }),
    many: (count) => `${count} domains expire soon`,
  })
}

function groupNotifications<T extends { domain: string }>(
  all: readonly T[],
  texts: { single: (it: T) => { title: string; body: string }; many: (count: number) => string },
): RenewalNotification[] {
  const [first] = all
  if (!first) return []
  if (all.length === 1) return [{ ...texts.single(first), domain: first.domain }]
  return [{ title: texts.many(all.length), body: `${formatNames(all)}.`, domain: null }]
}

function formatNames(all: readonly { domain: string }[]): string {
  const named = all.slice(0, maxNamed).map(({ domain }) => domain)
  const others = all.length - named.length
  return others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ')
}

/** Formats the days remaining at the time of the notification. */
function describeDays({ expiresAtMs, notifiedAtMs }: Notice): string {
  const days = Math.max(1, Math.ceil((expiresAtMs - notifiedAtMs) / (24 * 3600 * 1000)))
  return days === 1 ? '1 day' : `${days} days`
}
