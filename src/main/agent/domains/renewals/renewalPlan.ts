import { noticeDays, type PlannedRenewal, plannedDays } from '#shared/contract/domainRenewals.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Settings } from './renewalRepository.ts'

export const dayMs = 24 * 3600 * 1000
const hourMs = 3600 * 1000
/** Grace period in which registrars still renew an expired domain. */
export const gracePeriodMs = 30 * dayMs
/** Delays after the first, second and third failed attempt. Later attempts are daily. */
const retryDelaysMs = [hourMs, 4 * hourMs, 12 * hourMs]

export function getDueAtMs(expiresAtMs: number, { daysBefore }: Pick<Settings, 'daysBefore'>): number {
  return expiresAtMs - daysBefore * dayMs
}

/** @param attempts number of failed attempts, including the latest */
export function getNextAttemptMs(attempts: number, nowMs: number): number {
  return nowMs + (retryDelaysMs[attempts - 1] ?? dayMs)
}

/** Returns the current threshold of `noticeDays`, or undefined if none is reached or the domain has expired. */
export function findNoticeThreshold(expiresAtMs: number, nowMs: number): number | undefined {
  const remainingMs = expiresAtMs - nowMs
  return remainingMs <= 0 ? undefined : noticeDays.findLast((days) => remainingMs <= days * dayMs)
}

export type Upcoming = { settings: Settings; expiresAtMs: number; estimate: number | undefined }

/** Plans the renewals of the next `plannedDays` days and checks them against the limits, assuming no other payments. */
export function planRenewals(
  upcoming: readonly Upcoming[],
  { states, nowMs }: { states: readonly BudgetState[]; nowMs: number },
): { renewals: PlannedRenewal[]; total: number; covered: boolean } {
  const due = upcoming
    .map((item) => ({ ...item, atMs: Math.max(nowMs, getDueAtMs(item.expiresAtMs, item.settings)) }))
    .filter(({ atMs }) => atMs <= nowMs + plannedDays * dayMs)
    .sort((a, b) => a.atMs - b.atMs)
  const limits = listRollingLimits(states, nowMs)
  const renewals = due.map(({ settings, atMs, estimate }): PlannedRenewal => {
    const problem =
      estimate === undefined
        ? 'The price is unknown.'
        : estimate > settings.maxMicroUsd
          ? `The renewal costs ${formatUsdAmount(estimate)}, which is above your price limit of ${formatUsdAmount(settings.maxMicroUsd)}.`
          : limits.refusal(estimate, atMs)
    return {
      domain: settings.domain,
      at: toIsoTime(atMs),
      amount_micro_usd: estimate ?? null,
      problem: problem ?? null,
    }
  })
  const total = renewals.reduce((sum, { amount_micro_usd: amount }) => sum + (amount ?? 0), 0)
  return { renewals, total, covered: renewals.every(({ problem }) => problem === null) }
}

/**
 * Simulates the limits over time. Starts with the payments of this month and of the last 24 hours, then counts only
 * renewals.
 */
function listRollingLimits(states: readonly BudgetState[], nowMs: number) {
  const findLimit = (scope: BudgetState['scope']) => states.find((it) => it.scope === scope)
  const [payment, day, month] = [findLimit('payment'), findLimit('day'), findLimit('month')]
  const readUsed = (state: BudgetState | undefined) => (state?.used_micro_usd ?? 0) + (state?.held_micro_usd ?? 0)
  const inMonths = new Map<string, number>()
  /** Payments of the last 24 hours, oldest first. */
  const lately: { atMs: number; amount: number }[] = []
  return {
    refusal(amount: number, atMs: number): string | undefined {
      const maxMicroUsd = payment?.limit_micro_usd ?? Number.POSITIVE_INFINITY
      if (amount > maxMicroUsd) return `The renewal is above your limit of ${formatUsdAmount(maxMicroUsd)} per payment.`
      while ((lately[0]?.atMs ?? atMs) <= atMs - dayMs) lately.shift()
      const usedInDay = atMs < nowMs + dayMs ? readUsed(day) : 0
      const inDay = lately.reduce((total, it) => total + it.amount, usedInDay)
      if (isAbove(day, inDay + amount)) {
        return `Your limit of ${formatUsdAmount(day?.limit_micro_usd ?? 0)} for any 24 hours does not cover it.`
      }
      const name = toIsoTime(atMs).slice(0, 7)
      const inMonth = (inMonths.get(name) ?? 0) + (name === toIsoTime(nowMs).slice(0, 7) ? readUsed(month) : 0)
      if (isAbove(month, inMonth + amount)) {
        return `Your limit of ${formatUsdAmount(month?.limit_micro_usd ?? 0)} for ${name} does not cover it.`
      }
      lately.push({ atMs, amount })
      inMonths.set(name, (inMonths.get(name) ?? 0) + amount)
      return undefined
    },
  }
}

function isAbove(state: BudgetState | undefined, amount: number): boolean {
  const limit = state?.limit_micro_usd
  return limit !== undefined && limit !== null && amount > limit
}

function formatUsdAmount(amount: number): string {
  return formatUsd(String(amount), 'exact')
}
