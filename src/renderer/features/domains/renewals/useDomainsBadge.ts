import { useRenewals } from '#renderer/api/useRenewals.ts'
import type { Badge } from '#renderer/ui/feature.ts'

const failing = new Set(['blocked', 'credited'])

/** Returns a badge that counts expiring domains and renewals that cannot be paid. */
export function useDomainsBadge(): Badge | undefined {
  const { data } = useRenewals()
  if (!data) return undefined
  const blocked = data.renewals.filter(({ state }) => failing.has(state)).map(({ domain }) => domain)
  const count = new Set([...blocked, ...data.notices.map(({ domain }) => domain)]).size
  return count === 0 ? undefined : { count, words: count === 1 ? '1 needs attention' : `${count} need attention` }
}
