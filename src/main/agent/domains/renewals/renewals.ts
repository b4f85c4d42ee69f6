import { AppError } from '#shared/appError.ts'
import type { DomainRenewal, DomainRenewals, RenewalSettings } from '#shared/contract/domainRenewals.ts'
import type { Domain } from '#shared/contract/domains.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import type { RecordActivity } from '../../base/recordActivity.ts'
import type { StoredPayment } from '../../payments/paymentRepository.ts'
import type { DomainCache } from '../domainCache.ts'
import type { DomainQueries } from '../domainQueries.ts'
import type { AutoRenewals, RegisteredName, RenewalEvent } from './autoRenewals.ts'
import type { ExpiryNotices } from './expiryNotices.ts'
import {
  createExpiryNotifications,
  createRenewalNotifications,
  describeRemovedDomain,
  type RenewalNotification,
} from './renewalNotifications.ts'
import type { RenewalRepository } from './renewalRepository.ts'
import type { RenewalScheduler } from './renewalScheduler.ts'
import { createRenewalViews, noWallet } from './renewalViews.ts'

export type Renewals = {
  list(): Promise<DomainRenewals>
  /** @throws AppError `domain/not-found`, `wallet/absent` */
  set(domain: string, settings: RenewalSettings): Promise<DomainRenewal>
  /** @throws AppError `domain/not-found` if auto-renew was not configured */
  remove(domain: string): void
  /** Called when a domain with auto-renew is no longer in the account. */
  onDomainRemoved(domain: string): void
  /** @throws AppError `domain/not-found` */
  retry(domain: string): Promise<DomainRenewal>
  dismiss(): void
  /** Runs one sweep. @returns the time of the next sweep, in milliseconds since 1970 */
  sweep(signal: AbortSignal): Promise<number | undefined>
}

type Options = {
  records: RenewalRepository
  auto: AutoRenewals
  notices: ExpiryNotices
  cache: Pick<DomainCache, 'getCached' | 'account'>
  queries: Pick<DomainQueries, 'list' | 'prices'>
  findPayment: (intentId: string) => StoredPayment | undefined
  states: () => BudgetState[]
  hasWallet: () => boolean
  watch: () => Pick<RenewalScheduler, 'trigger' | 'runNow'>
  notify: (notification: RenewalNotification) => void
  onChanged: () => void
  recordActivity: RecordActivity
  now: () => number
}

export function createRenewals(options: Options): Renewals {
  const { records, auto, notices, cache, queries, watch, notify, onChanged, recordActivity, now } = options

  /**
   * Returns immediately, even if the service does not respond. Uses the last signed-in account until the service
   * reports another one.
   */
  const listCached = async (): Promise<RegisteredName[]> =>
    presentNames((await cache.getCached(queries.list())).domains)
  const listCurrent = async (): Promise<RegisteredName[]> => {
    await cache.account().catch(rethrowUnlessAway)
    return listCached()
  }
  const list = async (only?: string): Promise<DomainRenewals> => {
    const domains = await listCached().catch(toUndefinedIfUnreachable)
    const priceList = await cache.getCached(queries.prices()).catch(() => undefined)
    const prices = new Map(priceList?.pricing.map(({ tld, renewal }) => [tld, renewal]))
    const input = { domains, prices, states: options.states(), hasWallet: options.hasWallet(), nowMs: now() }
    const settings = only === undefined ? records.settings() : [records.find(only)].filter((it) => it !== undefined)
    return createRenewalViews(
      { settings, turns: records.cycles(), unseen: records.listUnseen() },
      options.findPayment,
      input,
    )
  }
  const getView = async (domain: string): Promise<DomainRenewal> => {
    const view = (await list(domain)).renewals[0]
    if (view) return view
    throw createMissingDomainError(domain)
  }
  const requireName = async (domain: string): Promise<RegisteredName> => {
    const name = (await listCurrent()).find((it) => it.domain === domain)
    if (name) return name
    throw createMissingDomainError(domain)
  }
  const notifyAll = (events: readonly RenewalEvent[], expiryNotifications: readonly RenewalNotification[]): void => {
    for (const notification of [...createRenewalNotifications(events), ...expiryNotifications]) notify(notification)
  }

  return {
    list: () => list(),
    async set(domain, { enabled, days_before: daysBefore, years, max_micro_usd: maxMicroUsd }) {
      const name = await requireName(domain)
      if (enabled && !options.hasWallet()) throw new AppError('wallet/absent', noWallet)
      const settings = { domain, enabled, daysBefore, years, maxMicroUsd }
      records.atomically(() => {
        records.set(settings)
        auto.onSettingsChange(settings, Date.parse(name.expires_at))
        const detail = { domain, ...(enabled && { days_before: daysBefore, years, most_micro_usd: maxMicroUsd }) }
        recordSwitch(recordActivity, enabled ? 'on' : 'off', detail)
      })
      onChanged()
      watch().trigger()
      return getView(domain)
    },
    remove(domain) {
      if (!records.find(domain)) throw createMissingDomainError(domain)
      records.atomically(() => {
        records.remove(domain)
        recordSwitch(recordActivity, 'off', { domain })
      })
      onChanged()
    },
    onDomainRemoved(domain) {
      if (records.find(domain)?.enabled !== true) return
      const summary = describeRemovedDomain(domain)
      const actor = { kind: 'system', name: 'Steward' } as const
      recordActivity({ kind: 'renewal.failed', actor, subject: domain, summary, detail: { domain }, links: { domain } })
      notify({ title: `${domain} is not in your account`, body: 'Its auto-renew is still on.', domain: null })
      onChanged()
    },
    async retry(domain) {
      await requireName(domain)
      auto.unblock(['wallet', 'locked', 'budget', 'price', 'policy', 'service', 'approval', 'other'], domain)
      await watch().runNow()
      return getView(domain)
    },
    dismiss() {
      records.seeAll()
      onChanged()
    },
    async sweep(signal) {
      const domains = await listCurrent()
      const before = records.version()
      const fresh = notices.sweep(domains)
      const events = await auto.sweep(domains, signal)
      if (signal.aborted) return undefined
      const isRenewed = (domain: string) => records.find(domain)?.enabled === true
      notifyAll(events, createExpiryNotifications(fresh.filter(({ domain }) => !isRenewed(domain))))
      if (records.version() !== before) onChanged()
      const next = [auto.nextAtMs(domains), notices.nextAtMs(domains)].filter((it) => it !== undefined)
      return next.length === 0 ? undefined : Math.min(...next)
    },
  }
}

function recordSwitch(recordActivity: RecordActivity, state: 'on' | 'off', detail: { domain: string }): void {
  const { domain } = detail
  recordActivity({
    kind: `renewal.${state}`,
    actor: { kind: 'person', name: 'You' },
    subject: domain,
    summary: `You turned auto-renew of ${domain} ${state}.`,
    detail,
    links: { domain },
  })
}

function rethrowUnlessAway(error: unknown): void {
  if (!(error instanceof AppError && error.status >= 500)) throw error
}

function toUndefinedIfUnreachable(error: unknown): undefined {
  rethrowUnlessAway(error)
}

function presentNames(domains: readonly Domain[]): RegisteredName[] {
  return domains.filter(({ left_at: leftAt }) => leftAt === null)
}

function createMissingDomainError(domain: string): AppError {
  return new AppError('domain/not-found', `You have no domain ${domain}.`)
}
