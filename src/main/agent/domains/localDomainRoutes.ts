import {
  applyPlan,
  checkPropagation,
  getLocalDomain,
  listLocalDomains,
  listLocalPrices,
  listLocalRecords,
  listPlans,
  listPropagationServers,
  planRecords,
  searchLocalDomains,
  undoPlan,
} from '../../../shared/contract/localDomains.ts'
import { bytesAnswer } from '../../platform/http/answers.ts'
import { type LocalEndpoint, localEndpoint } from '../localEndpoint.ts'
import type { DomainCache } from './domainCache.ts'
import type { DomainQuestions } from './domainQuestions.ts'
import type { Propagation } from './propagation/propagation.ts'
import type { ZonePlans } from './zonePlans.ts'

export function localDomainRoutes(parts: {
  cache: DomainCache
  questions: DomainQuestions
  plans: ZonePlans
  propagation: Propagation
}): LocalEndpoint[] {
  const { cache, questions, plans, propagation } = parts
  return [
    localEndpoint(listLocalDomains, async () => jsonBytes(await cache.keptJson(questions.list()))),
    localEndpoint(searchLocalDomains, ({ query }) => cache.fresh(questions.search(query))),
    localEndpoint(listLocalPrices, () => cache.kept(questions.prices())),
    localEndpoint(getLocalDomain, ({ params }) => cache.kept(questions.domain(params.domain))),
    localEndpoint(listLocalRecords, ({ params: { domain }, query: { fresh } }) =>
      cache[fresh ? 'fresh' : 'kept'](questions.zone(domain, { fresh })),
    ),
    localEndpoint(listPropagationServers, async ({ params }) => ({
      servers: await propagation.servers(params.domain),
    })),
    localEndpoint(checkPropagation, ({ params, body }, { signal }) =>
      propagation.check(params.domain, body.server, signal),
    ),
    localEndpoint(planRecords, ({ params, body }) => plans.make(params.domain, body.records)),
    localEndpoint(listPlans, ({ params }) => ({ plans: plans.list(params.domain) })),
    localEndpoint(applyPlan, ({ params }) => plans.apply(params.planId)),
    localEndpoint(undoPlan, ({ params }) => plans.undo(params.planId)),
  ]
}

function jsonBytes(body: Uint8Array) {
  return bytesAnswer({ headers: { 'content-type': 'application/json; charset=utf-8' }, body })
}
