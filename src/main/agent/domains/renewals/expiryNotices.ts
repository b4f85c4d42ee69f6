import { noticeDays } from '#shared/contract/domainRenewals.ts'
import type { RegisteredName } from './autoRenewals.ts'
import { dayMs, findNoticeThreshold } from './renewalPlan.ts'
import { type Notice, type RenewalRepository, toNoticeKey } from './renewalRepository.ts'

/**
 * Sends notices of expiring domains, once per threshold in days. A domain that is first seen late causes only one
 * notice.
 */
export type ExpiryNotices = {
  /** @returns new notices */
  sweep(domains: readonly RegisteredName[]): Notice[]
  /** @returns the time of the next notice, or undefined if none is scheduled */
  nextAtMs(domains: readonly RegisteredName[]): number | undefined
}

export function createExpiryNotices(options: {
  records: Pick<RenewalRepository, 'listNotified' | 'addNotice' | 'atomically'>
  /** Runs in the transaction that stores the notices. */
  recordNotices: (notices: readonly Notice[]) => void
  now: () => number
}): ExpiryNotices {
  const { records, recordNotices, now } = options
  return {
    sweep(domains) {
      const nowMs = now()
      const lastNotices = records.listNotified()
      const fresh = domains.flatMap(({ domain, expires_at }): Notice[] => {
        const expiresAtMs = Date.parse(expires_at)
        const days = findNoticeThreshold(expiresAtMs, nowMs)
        const before = lastNotices.get(toNoticeKey({ domain, expiresAtMs })) ?? Number.POSITIVE_INFINITY
        return days !== undefined && days < before ? [{ domain, expiresAtMs, days, notifiedAtMs: nowMs }] : []
      })
      if (fresh.length === 0) return fresh
      records.atomically(() => {
        for (const notice of fresh) records.addNotice(notice)
        recordNotices(fresh)
      })
      return fresh
    },
    nextAtMs(domains) {
      const nowMs = now()
      const next = domains.reduce(
        (least, { expires_at }) => Math.min(least, nextStepMs(Date.parse(expires_at), nowMs)),
        Number.POSITIVE_INFINITY,
      )
      return Number.isFinite(next) ? next : undefined
    },
  }
}

function nextStepMs(expiresAtMs: number, nowMs: number): number {
  const ahead = noticeDays.map((days) => expiresAtMs - days * dayMs).filter((it) => it > nowMs)
  return Math.min(...ahead, Number.POSITIVE_INFINITY)
}
