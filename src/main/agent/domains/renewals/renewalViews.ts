import type { DomainRenewal, DomainRenewals } from '#shared/contract/domainRenewals.ts'
import { plannedDays } from '#shared/contract/domainRenewals.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import { estimateMicroUsd } from '#shared/renewalEstimate.ts'
import { toIsoTime } from '#shared/time.ts'
import type { StoredPayment } from '../../payments/paymentRepository.ts'
import type { RegisteredName } from './autoRenewals.ts'
import { getDueAtMs, gracePeriodMs, planRenewals } from './renewalPlan.ts'
import type { Notice, RenewalCycle, Settings } from './renewalRepository.ts'

type ViewOptions = {
  /** Known domains. Undefined until loaded. */
  domains: readonly RegisteredName[] | undefined
  /** Price of a one-year renewal in US dollars, by top-level domain. */
  prices: ReadonlyMap<string, number>
  states: readonly BudgetState[]
  hasWallet: boolean
  nowMs: number
}
type Records = { settings: readonly Settings[]; turns: readonly RenewalCycle[]; unseen: readonly Notice[] }
type FindPayment = (intentId: string) => StoredPayment | undefined

export const noWallet =
  'Auto-renew pays from a wallet on this computer. Create or import a wallet first, or renew manually.'

export function createRenewalViews(records: Records, paymentOf: FindPayment, options: ViewOptions): DomainRenewals {
  const { domains, prices, hasWallet, states, nowMs } = options
  const names = new Map((domains ?? []).map((domain) => [domain.domain, domain]))
  const turns = new Map(records.turns.map((cycle) => [`${cycle.domain} ${cycle.expiresAtMs}`, cycle]))
  const views = records.settings.flatMap((settings) => {
    const name = names.get(settings.domain)
    if (!name) return []
    const expiresAtMs = Date.parse(name.expires_at)
    const cycle = turns.get(`${settings.domain} ${expiresAtMs}`)
    return [{ settings, cycle, expiresAtMs, estimate: estimateMicroUsd(settings.domain, settings.years, prices) }]
  })
  const upcoming = views.filter(
    ({ settings, cycle, expiresAtMs }) =>
      settings.enabled && nowMs < expiresAtMs + gracePeriodMs && (!cycle || cycle.state === 'planned'),
  )
  const { renewals: planned, total, covered } = planRenewals(upcoming, { states, nowMs })
  return {
    possible: hasWallet,
    obstacle: hasWallet ? null : noWallet,
    missing: domains ? listMissingNames(records.settings, names) : [],
    renewals: views.map((it) => toRenewalView({ ...it, paymentOf, hasWallet, nowMs })),
    notices: records.unseen.flatMap(({ domain, expiresAtMs, days, notifiedAtMs }) => {
      const expires_at = toIsoTime(expiresAtMs)
      const isPresent = names.get(domain)?.expires_at === expires_at
      return isPresent ? [{ domain, expires_at, days, notified_at: toIsoTime(notifiedAtMs) }] : []
    }),
    planned: { days: plannedDays, renewals: planned, total_micro_usd: total, covered: covered && hasWallet },
  }
}

function listMissingNames(settings: readonly Settings[], names: ReadonlyMap<string, RegisteredName>): string[] {
  return settings.filter(({ domain, enabled }) => enabled && !names.has(domain)).map(({ domain }) => domain)
}

function toRenewalView(options: {
  settings: Settings
  cycle: RenewalCycle | undefined
  expiresAtMs: number
  estimate: number | undefined
  paymentOf: FindPayment
  hasWallet: boolean
  nowMs: number
}): DomainRenewal {
  const { settings, cycle, expiresAtMs, estimate, paymentOf, hasWallet, nowMs } = options
  const { domain, enabled, daysBefore, years, maxMicroUsd } = settings
  const payment = cycle?.intentId ? paymentOf(cycle.intentId)?.record : undefined
  const renewsAtMs = Math.max(getDueAtMs(expiresAtMs, settings), cycle?.nextAtMs ?? 0)
  const planned = getState({
    enabled,
    cycle,
    isWaiting: payment?.state === 'waiting',
    isExpired: nowMs >= expiresAtMs + gracePeriodMs,
  })
  // No attempt is made without a wallet, so no attempt records the problem.
  const isBlocked = planned === 'planned' && !hasWallet
  const state = isBlocked ? 'blocked' : planned
  const isTried = state === 'planned' || state === 'blocked' || (cycle?.state === 'begun' && cycle.nextAtMs !== null)
  return {
    ...{ domain, enabled, days_before: daysBefore, years, max_micro_usd: maxMicroUsd, state },
    ...{ expires_at: toIsoTime(expiresAtMs), renews_at: toIsoTime(getDueAtMs(expiresAtMs, settings)) },
    problem: isBlocked ? { kind: 'wallet', detail: noWallet } : (cycle?.problem ?? null),
    next_at: isTried ? toIsoTime(Math.max(renewsAtMs, nowMs)) : null,
    payment_id: payment?.id ?? null,
    estimate_micro_usd: estimate ?? null,
  }
}

function getState(options: {
  enabled: boolean
  cycle: RenewalCycle | undefined
  isWaiting: boolean
  isExpired: boolean
}): DomainRenewal['state'] {
  const { enabled, cycle, isWaiting, isExpired } = options
  // A started payment is shown even if auto-renew was turned off, because money may move.
  if (cycle?.state === 'begun') return isWaiting ? 'asking' : 'paying'
  if (!enabled) return 'off'
  if (cycle?.state === 'renewed' || cycle?.state === 'credited' || cycle?.state === 'declined') return cycle.state
  if (isExpired) return 'expired'
  return cycle?.problem ? 'blocked' : 'planned'
}
