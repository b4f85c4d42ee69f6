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
  const turns = new Map(records.turns.map((turn) => [`${turn.domain} ${turn.expiresAtMs}`, turn]))
  const views = records.settings.flatMap((settings) => {
    const name = names.get(settings.domain)
    if (!name) return []
    const expiresAtMs = Date.parse(name.expires_at)
    const turn = turns.get(`${settings.domain} ${expiresAtMs}`)
    return [{ settings, turn, expiresAtMs, estimate: estimateMicroUsd(settings.domain, settings.years, prices) }]
  })
  const upcoming = views.filter(
    ({ settings, turn, expiresAtMs }) =>
      settings.enabled && nowMs < expiresAtMs + gracePeriodMs && (!turn || turn.state === 'planned'),
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
  turn: RenewalCycle | undefined
  expiresAtMs: number
  estimate: number | undefined
  paymentOf: FindPayment
  hasWallet: boolean
  nowMs: number
}): DomainRenewal {
  const { settings, turn, expiresAtMs, estimate, paymentOf, hasWallet, nowMs } = options
  const { domain, enabled, daysBefore, years, maxMicroUsd } = settings
  const payment = turn?.intentId ? paymentOf(turn.intentId)?.record : undefined
  const renewsAtMs = Math.max(getDueAtMs(expiresAtMs, settings), turn?.nextAtMs ?? 0)
  const planned = getState({
    enabled,
    turn,
    isWaiting: payment?.state === 'waiting',
    isOver: nowMs >= expiresAtMs + gracePeriodMs,
  })
  // No attempt is made without a wallet, so no attempt records the problem.
  const isBlocked = planned === 'planned' && !hasWallet
  const state = isBlocked ? 'blocked' : planned
  const isTried = state === 'planned' || state === 'blocked' || (turn?.state === 'begun' && turn.nextAtMs !== null)
  return {
    ...{ domain, enabled, days_before: daysBefore, years, max_micro_usd: maxMicroUsd, state },
    ...{ expires_at: toIsoTime(expiresAtMs), renews_at: toIsoTime(getDueAtMs(expiresAtMs, settings)) },
    problem: isBlocked ? { kind: 'wallet', detail: noWallet } : (turn?.problem ?? null),
    next_at: isTried ? toIsoTime(Math.max(renewsAtMs, nowMs)) : null,
    payment_id: payment?.id ?? null,
    estimate_micro_usd: estimate ?? null,
  }
}

function getState(options: {
  enabled: boolean
  turn: RenewalCycle | undefined
  isWaiting: boolean
  isOver: boolean
}): DomainRenewal['state'] {
  const { enabled, turn, isWaiting, isOver } = options
  // A started payment is shown even if auto-renew was turned off, because money may move.
  if (turn?.state === 'begun') return isWaiting ? 'asking' : 'paying'
  if (!enabled) return 'off'
  if (turn?.state === 'renewed' || turn?.state === 'credited' || turn?.state === 'declined') return turn.state
  if (isOver) return 'expired'
  return turn?.problem ? 'blocked' : 'planned'
}
