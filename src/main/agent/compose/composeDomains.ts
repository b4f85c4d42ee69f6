import { randomBytes } from 'node:crypto'
import { getMe } from '#shared/contract/auth.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createDomainCache, type DomainCache } from '../domains/domainCache.ts'
import { createDomainCacheRepository } from '../domains/domainCacheRepository.ts'
import { createDomainQueries, type DomainQueries } from '../domains/domainQueries.ts'
import { createLocalDomainRoutes } from '../domains/localDomainRoutes.ts'
import { createPlanRepository } from '../domains/planRepository.ts'
import { createPropagation } from '../domains/propagation/propagation.ts'
import { createZonePlans } from '../domains/zonePlans.ts'
import type { AgentContext } from './agentContext.ts'

export type DomainModule = {
  cache: DomainCache
  queries: DomainQueries
  /** Account and service, as stored in rows. */
  getOwner: () => string
  endpoints: LocalEndpoint[]
}

/** Composes domains, including their cached state while the service is unavailable. */
export function composeDomains(context: AgentContext): DomainModule {
  const {
    config,
    database,
    client,
    link,
    hosted,
    connectedService: service,
    activity,
    events,
    scope,
    log,
    now,
  } = context
  const domainLog = log.forArea('domains')
  const queries = createDomainQueries(client)
  const records = createDomainCacheRepository(database, service)
  const cache = scope.own(
    createDomainCache({
      records,
      account: async (signal) => (await client.call(getMe, {}, { signal })).id,
      isConnected: () => link.status().state === 'connected',
      now,
      log: domainLog,
      onChanged: () => events.publish({ type: 'local-domains.changed' }),
    }),
    (it) => it.close(),
  )
  scope.own(
    link.subscribe(({ type }) => {
      if (type !== 'ready' && type !== 'domains.changed') return
      if (type === 'ready') cache.revalidateAll()
      cache.outdate()
      // Fills the cache before the first use, in case the service becomes unavailable.
      cache.getCached(queries.list()).catch((error) => domainLog.info('failed to read domains', { error }))
    }),
    (unsubscribe) => unsubscribe(),
  )
  const plans = createZonePlans({
    plans: createPlanRepository(database, records.getOwner),
    ...{ client, cache, queries, now, log: domainLog },
    newId: () => `plan_${randomBytes(12).toString('hex')}`,
  })
  const spread = createPropagation({
    ...{ cache, queries, resolvers: config.domains.propagation_resolvers },
    isOwnService: hosted === undefined,
  })
  const endpoints = createLocalDomainRoutes({
    cache,
    queries,
    plans,
    propagation: spread,
    recordActivity: activity.record,
  })
  return { cache, queries, getOwner: records.getOwner, endpoints }
}
