import { createBytesAnswer } from '#platform/http/answers.ts'
import type { Requester } from '#shared/contract/intents.ts'
import {
  applyPlan,
  checkPropagation,
  type DnsPlan,
  getLocalDomain,
  listLocalDomains,
  listLocalPrices,
  listLocalRecords,
  listPlans,
  listPropagationServers,
  planRecords,
  searchLocalDomains,
  undoPlan,
} from '#shared/contract/localDomains.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { DomainCache } from './domainCache.ts'
import type { DomainQueries } from './domainQueries.ts'
import type { Propagation } from './propagation/propagation.ts'
import type { ZonePlans } from './zonePlans.ts'

export function createLocalDomainRoutes(parts: {
  cache: DomainCache
  queries: DomainQueries
  plans: ZonePlans
  propagation: Propagation
  recordActivity: RecordActivity
}): LocalEndpoint[] {
  const { cache, queries, plans, propagation, recordActivity } = parts
  return [
    createLocalEndpoint(listLocalDomains, async () => createJsonResponse(await cache.getCachedJson(queries.list()))),
    createLocalEndpoint(searchLocalDomains, ({ query }) => cache.fresh(queries.search(query))),
    createLocalEndpoint(listLocalPrices, () => cache.getCached(queries.prices())),
    createLocalEndpoint(getLocalDomain, ({ params }) => cache.getCached(queries.domain(params.domain))),
    createLocalEndpoint(listLocalRecords, ({ params: { domain }, query: { fresh } }) =>
      cache[fresh ? 'fresh' : 'getCached'](queries.zone(domain, { fresh })),
    ),
    createLocalEndpoint(listPropagationServers, async ({ params }) => ({
      servers: await propagation.servers(params.domain),
    })),
    createLocalEndpoint(checkPropagation, ({ params, body }, { signal }) =>
      propagation.check(params.domain, body.server, signal),
    ),
    createLocalEndpoint(planRecords, ({ params, body }) => plans.make(params.domain, body.records)),
    createLocalEndpoint(listPlans, async ({ params }) => ({ plans: await plans.list(params.domain) })),
    createLocalEndpoint(applyPlan, async ({ params }, { requester }) => {
      const plan = await plans.apply(params.planId)
      recordPlan(plan, requester, recordActivity)
      return plan
    }),
    createLocalEndpoint(undoPlan, ({ params }) => plans.undo(params.planId)),
  ]
}

/** Records the plan. The service records each change separately. */
function recordPlan(
  { id, domain, state, steps }: DnsPlan,
  { kind, name }: Requester,
  recordActivity: RecordActivity,
): void {
  const failed = state === 'failed'
  const changes = steps.length === 1 ? '1 change' : `${steps.length} changes`
  recordActivity({
    kind: failed ? 'dns.failed' : 'dns.applied',
    actor: { kind, name },
    subject: domain,
    summary: `${name} ${failed ? 'partly applied' : 'applied'} ${changes} to the DNS records of ${domain}.`,
    detail: { plan_id: id, domain, state, changes: steps.length },
    links: { plan: id, domain },
  })
}

function createJsonResponse(body: Uint8Array) {
  return createBytesAnswer({ headers: { 'content-type': 'application/json; charset=utf-8' }, body })
}
