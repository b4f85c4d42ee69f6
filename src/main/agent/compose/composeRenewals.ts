import type { RenewalProblem } from '#shared/contract/domainRenewals.ts'
import { getDomain } from '#shared/contract/domains.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { steward } from '../base/actors.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { autoRenewRequester, createAutoRenewals } from '../domains/renewals/autoRenewals.ts'
import { createExpiryNotices } from '../domains/renewals/expiryNotices.ts'
import { describeNotices, describeRenewal } from '../domains/renewals/renewalNotifications.ts'
import { createRenewalRepository } from '../domains/renewals/renewalRepository.ts'
import { createRenewalRoutes } from '../domains/renewals/renewalRoutes.ts'
import { createRenewalScheduler } from '../domains/renewals/renewalScheduler.ts'
import { createRenewals as renewalsOf } from '../domains/renewals/renewals.ts'
import type { AgentContext } from './agentContext.ts'
import type { ApprovalModule } from './composeApprovals.ts'
import type { BudgetModule } from './composeBudgets.ts'
import type { DomainModule } from './composeDomains.ts'
import type { PaymentModule } from './composePayments.ts'

type RenewalOptions = {
  approvals: ApprovalModule['approvals']
  budgets: BudgetModule['budgets']
  domains: Pick<DomainModule, 'cache' | 'queries' | 'getOwner'>
  payment: Pick<PaymentModule, 'payments' | 'rows' | 'purchases'>
}

/** Maximum number of domains named in one log entry. */
const maxNamed = 50

/** Composes renewals of domains from the wallet, and notices of expiring domains. */
export function composeRenewals(context: AgentContext, options: RenewalOptions): { endpoints: LocalEndpoint[] } {
  const { database, client, link, events, activity, removedThings, scope, log, clock } = context
  const { approvals, budgets, domains, payment } = options
  const now = clock.steadyMs
  const { cache, queries, getOwner } = domains
  const records = createRenewalRepository({ database, getOwner, now })
  const paymentOf = payment.rows.ofIntent
  const renewalLog = log.forArea('renewals')
  const auto = createAutoRenewals({
    ...{ records, approvals, findPayment: paymentOf, now, log: renewalLog },
    async buy({ domain, years, capMicroUsd, ifExpiresAt, onStored }, signal) {
      const order = await payment.purchases.renewal({ domain, years, if_expires_at: ifExpiresAt })
      const call = { requester: autoRenewRequester, repeatable: undefined, setHeader() {}, signal }
      const reason = `Auto-renew: ${domain} expires on ${ifExpiresAt.slice(0, 10)}`
      const bought = await payment.payments.buy(async () => ({ ...order, capMicroUsd }), call, {
        ...{ reason, waitMs: 0, onStored },
      })
      return { wasFree: bought.payment === null }
    },
    read: async (domain) => client.call(getDomain, { domain }),
    recordEvent(event) {
      activity.record({
        kind: event.state === 'renewed' ? 'renewal.done' : 'renewal.failed',
        actor: steward,
        subject: event.domain,
        summary: describeRenewal(event),
        detail: { domain: event.domain, problem: event.problem?.kind ?? null },
        links: { domain: event.domain },
      })
    },
  })
  const notices = createExpiryNotices({
    ...{ records, now },
    recordNotices(fresh) {
      const [first] = fresh
      activity.record({
        kind: 'renewal.expiring',
        actor: steward,
        ...(first && fresh.length === 1 && { subject: first.domain, links: { domain: first.domain } }),
        summary: describeNotices(fresh),
        detail: {
          domains: fresh
            .slice(0, maxNamed)
            .map(({ domain }) => domain)
            .join(', '),
          count: fresh.length,
        },
      })
    },
  })
  const renewals = renewalsOf({
    ...{ records, auto, notices, cache, queries, findPayment: paymentOf, now },
    states: budgets.states,
    hasWallet: approvals.hasWallet,
    watch: () => watched, // created below with these renewals
    notify: (notification) => events.publish({ type: 'domains.notice', ...notification }),
    onChanged: () => events.publish({ type: 'domain-renewals.changed' }),
    recordActivity: activity.record,
  })
  const watched = scope.own(createRenewalScheduler({ sweep: renewals.sweep, now, log: renewalLog }), (it) => it.close())
  const unblock = (...kinds: RenewalProblem['kind'][]): void => {
    auto.unblock(kinds)
    watched.trigger()
  }
  const heard = (event: LocalEvent): void => {
    if (event.type === 'wallet.changed') unblock('wallet', 'locked')
    else if (event.type === 'policy.changed') unblock('policy')
    else if (event.type === 'payment-budgets.changed') unblock('budget')
    else if (event.type === 'local-domains.changed') watched.trigger()
    else if (event.type === 'payment.changed' && event.payment.purpose === 'domain-renewal') watched.trigger()
  }
  scope.own(events.subscribe(heard), (unsubscribe) => unsubscribe())
  scope.own(
    link.subscribe(({ type }) => {
      if (type === 'ready') unblock('service')
    }),
    (unsubscribe) => unsubscribe(),
  )
  scope.own(
    removedThings.subscribe({ kind: 'domain', onRemoved: ({ id }) => renewals.onDomainRemoved(id) }),
    (unsubscribe) => unsubscribe(),
  )
  return { endpoints: createRenewalRoutes(renewals) }
}
