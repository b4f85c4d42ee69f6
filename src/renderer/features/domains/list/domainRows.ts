import type { Domain } from '#shared/contract/domains.ts'

export type DomainFilter = 'all' | 'expiring' | 'unlocked'
export type DomainSort = 'name' | 'expiry'

const dayMs = 24 * 60 * 60_000
const soonMs = 30 * dayMs
/** Remaining time from which expiry is marked as urgent. */
const urgentMs = 7 * dayMs

/** Returns the mark shown beside the expiry date. @returns undefined if expiry is not near */
export function getExpiryMark(
  domain: Pick<Domain, 'expires_at' | 'status'>,
  nowMs: number,
): { tone: 'caution' | 'negative'; text: string } | undefined {
  const leftMs = Date.parse(domain.expires_at) - nowMs
  if (domain.status === 'expired' || leftMs <= 0) return { tone: 'negative', text: 'Expired' }
  if (leftMs >= soonMs) return undefined
  const days = Math.ceil(leftMs / dayMs)
  return { tone: leftMs < urgentMs ? 'negative' : 'caution', text: days === 1 ? '1 day' : `${days} days` }
}

export function isExpiring(domain: Pick<Domain, 'expires_at' | 'status'>, nowMs: number): boolean {
  return domain.status === 'expired' || Date.parse(domain.expires_at) - nowMs < soonMs
}

/** Returns the rows to display, sorted. */
export function buildDomainRows(
  domains: readonly Domain[],
  { search, filter, sort, nowMs }: { search: string; filter: DomainFilter; sort: DomainSort; nowMs: number },
): Domain[] {
  const term = search.trim().toLowerCase()
  const fits = (item: Domain) =>
    (item.domain.includes(term) || item.unicode.toLowerCase().includes(term)) &&
    (filter === 'all' || (filter === 'expiring' ? isExpiring(item, nowMs) : !item.locked))
  const compare = (a: Domain, b: Domain) =>
    (sort === 'expiry' ? a.expires_at.localeCompare(b.expires_at) : 0) || compareNames(a.domain, b.domain)
  return domains.filter(fits).sort(compare)
}

/** Compares code units rather than by locale, so that sorting 5,000 names stays fast. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
