import { bytesAnswer } from '#platform/http/answers.ts'
import type { Asker } from '#shared/contract/intents.ts'
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
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { DomainCache } from './domainCache.ts'
import type { DomainQuestions } from './domainQuestions.ts'
import type { Propagation } from './propagation/propagation.ts'
import type { ZonePlans } from './zonePlans.ts'

export function createLocalDomainRoutes(parts: {
  cache: DomainCache
  questions: DomainQuestions
  plans: ZonePlans
  propagation: Propagation
  note: RecordActivity
}): LocalEndpoint[] {
  const { cache, questions, plans, propagation, note } = parts
  return [
    localEndpoint(listLocalDomains, async () => jsonBytes(await cache.getCachedJson(questions.list()))),
    localEndpoint(searchLocalDomains, ({ query }) => cache.fresh(questions.search(query))),
    localEndpoint(listLocalPrices, () => cache.getCached(questions.prices())),
    localEndpoint(getLocalDomain, ({ params }) => cache.getCached(questions.domain(params.domain))),
    localEndpoint(listLocalRecords, ({ params: { domain }, query: { fresh } }) =>
      cache[fresh ? 'fresh' : 'getCached'](questions.zone(domain, { fresh })),
    ),
    localEndpoint(listPropagationServers, async ({ params }) => ({
      servers: await propagation.servers(params.domain),
    })),
    localEndpoint(checkPropagation, ({ params, body }, { signal }) =>
      propagation.check(params.domain, body.server, signal),
    ),
    localEndpoint(planRecords, ({ params, body }) => plans.make(params.domain, body.records)),
    localEndpoint(listPlans, async ({ params }) => ({ plans: await plans.list(params.domain) })),
    localEndpoint(applyPlan, async ({ params }, { asker }) => {
      const plan = await plans.apply(params.planId)
      recordPlan(plan, asker, note)
      return plan
    }),
    localEndpoint(undoPlan, ({ params }) => plans.undo(params.planId)),
  ]
}

/** The service notes each change of a record; this is what they were made for. */
function recordPlan({ id, domain, state, steps }: DnsPlan, { kind, name }: Asker, note: RecordActivity): void {
  const failed = state === 'failed'
  const changes = steps.length === 1 ? '1 change' : `${steps.length} changes`
  note({
    kind: failed ? 'dns.failed' : 'dns.applied',
    actor: { kind, name },
    subject: domain,
    summary: `${name} applied a plan of ${changes} to the DNS records of ${domain}${failed ? ', in part' : ''}.`,
    detail: { plan_id: id, domain, state, changes: steps.length },
    links: { plan: id, domain },
  })
}

function jsonBytes(body: Uint8Array) {
  return bytesAnswer({ headers: { 'content-type': 'application/json; charset=utf-8' }, body })
}
