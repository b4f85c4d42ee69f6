import { AppError } from '#shared/appError.ts'
import type { DomainRenewal, DomainRenewals, RenewalSettings } from '#shared/contract/domainRenewals.ts'
import type { Domain } from '#shared/contract/domains.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import type { Note } from '../../base/note.ts'
import type { StoredPayment } from '../../payments/paymentRepository.ts'
import type { DomainCache } from '../domainCache.ts'
import type { DomainQuestions } from '../domainQuestions.ts'
import type { AutoRenewals, KnownName, RenewalNews } from './autoRenewals.ts'
import type { DomainWatch } from './domainWatch.ts'
import type { ExpiryNotices } from './expiryNotices.ts'
import type { RenewalRepository } from './renewalRepository.ts'
import { noWallet, renewalViews } from './renewalViews.ts'
import { leftSentence, noticeTold, renewalTold, type Told } from './renewalWords.ts'

/** Auto-renew and expiry notices as the window sees them. */
export type Renewals = {
  list(): Promise<DomainRenewals>
  /** @throws AppError `domain/not-found`, `wallet/absent` */
  set(domain: string, settings: RenewalSettings): Promise<DomainRenewal>
  /** @throws AppError `domain/not-found` where nothing was set */
  remove(domain: string): void
  /** Tells that a domain with auto-renew is not in the account any more. */
  left(domain: string): void
  /** @throws AppError `domain/not-found` */
  retry(domain: string): Promise<DomainRenewal>
  dismiss(): void
  /** What the watch does. @returns when it is to be done next */
  sweep(signal: AbortSignal): Promise<number | undefined>
}

type Options = {
  records: RenewalRepository
  auto: AutoRenewals
  notices: ExpiryNotices
  cache: Pick<DomainCache, 'kept' | 'account'>
  questions: Pick<DomainQuestions, 'list' | 'prices'>
  paymentOf: (intentId: string) => StoredPayment | undefined
  states: () => BudgetState[]
  hasWallet: () => boolean
  watch: () => Pick<DomainWatch, 'look' | 'looked'>
  tell: (told: Told) => void
  onChanged: () => void
  note: Note
  now: () => number
}

export function renewals(options: Options): Renewals {
  const { records, auto, notices, cache, questions, watch, tell, onChanged, note, now } = options

  /** Shown at once, also while the service hangs. Of the account that was signed in last, until the service tells of another. */
  const kept = async (): Promise<KnownName[]> => presentNames((await cache.kept(questions.list())).domains)
  const known = async (): Promise<KnownName[]> => {
    await cache.account().catch(unlessAway)
    return kept()
  }
  const list = async (only?: string): Promise<DomainRenewals> => {
    const domains = await kept().catch(undefinedIfAway)
    const told = await cache.kept(questions.prices()).catch(() => undefined)
    const prices = new Map(told?.pricing.map(({ tld, renewal }) => [tld, renewal]))
    const given = { domains, prices, states: options.states(), hasWallet: options.hasWallet(), nowMs: now() }
    const settings = only === undefined ? records.settings() : [records.find(only)].filter((it) => it !== undefined)
    return renewalViews({ settings, turns: records.turns(), unseen: records.unseen() }, options.paymentOf, given)
  }
  const viewOf = async (domain: string): Promise<DomainRenewal> => {
    const view = (await list(domain)).renewals[0]
    if (view) return view
    throw notFound(domain)
  }
  const named = async (domain: string): Promise<KnownName> => {
    const name = (await known()).find((it) => it.domain === domain)
    if (name) return name
    throw notFound(domain)
  }
  const tellAll = (news: readonly RenewalNews[], told: readonly Told[]): void => {
    for (const it of [...renewalTold(news), ...told]) tell(it)
  }

  return {
    list: () => list(),
    async set(domain, { enabled, days_before: daysBefore, years, most_micro_usd: mostMicroUsd }) {
      const name = await named(domain)
      if (enabled && !options.hasWallet()) throw new AppError('wallet/absent', noWallet)
      const settings = { domain, enabled, daysBefore, years, mostMicroUsd }
      records.atomically(() => {
        records.set(settings)
        auto.changed(settings, Date.parse(name.expires_at))
        note({
          kind: enabled ? 'renewal.on' : 'renewal.off',
          actor: { kind: 'person', name: 'You' },
          subject: domain,
          summary: `You turned auto-renew of ${domain} ${enabled ? 'on' : 'off'}.`,
          detail: { domain, ...(enabled && { days_before: daysBefore, years, most_micro_usd: mostMicroUsd }) },
          links: { domain },
        })
      })
      onChanged()
      watch().look()
      return viewOf(domain)
    },
    remove(domain) {
      if (!records.find(domain)) throw notFound(domain)
      records.atomically(() => {
        records.remove(domain)
        note({
          kind: 'renewal.off',
          actor: { kind: 'person', name: 'You' },
          subject: domain,
          summary: `You turned auto-renew of ${domain} off.`,
          detail: { domain },
          links: { domain },
        })
      })
      onChanged()
    },
    left(domain) {
      if (records.find(domain)?.enabled !== true) return
      const summary = leftSentence(domain)
      const actor = { kind: 'system', name: 'Steward' } as const
      note({ kind: 'renewal.failed', actor, subject: domain, summary, detail: { domain }, links: { domain } })
      tell({ title: `${domain} is not in your account`, body: 'Its auto-renew is still on.', domain: null })
      onChanged()
    },
    async retry(domain) {
      await named(domain)
      auto.unblock(['wallet', 'locked', 'budget', 'price', 'policy', 'service', 'approval', 'other'], domain)
      await watch().looked()
      return viewOf(domain)
    },
    dismiss() {
      records.seeAll()
      onChanged()
    },
    async sweep(signal) {
      const domains = await known()
      const before = records.version()
      const fresh = notices.sweep(domains)
      const news = await auto.sweep(domains, signal)
      if (signal.aborted) return undefined
      const isRenewed = (domain: string) => records.find(domain)?.enabled === true
      tellAll(news, noticeTold(fresh.filter(({ domain }) => !isRenewed(domain))))
      if (records.version() !== before) onChanged()
      const next = [auto.nextAtMs(domains), notices.nextAtMs(domains)].filter((it) => it !== undefined)
      return next.length === 0 ? undefined : Math.min(...next)
    },
  }
}

function unlessAway(failure: unknown): void {
  if (!(failure instanceof AppError && failure.status >= 500)) throw failure
}

function undefinedIfAway(failure: unknown): undefined {
  unlessAway(failure)
}

function presentNames(domains: readonly Domain[]): KnownName[] {
  return domains.filter(({ left_at: leftAt }) => leftAt === null)
}

function notFound(domain: string): AppError {
  return new AppError('domain/not-found', `You have no domain ${domain}.`)
}
