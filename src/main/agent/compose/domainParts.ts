import { randomBytes } from 'node:crypto'
import { getMe } from '#shared/contract/auth.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { type DomainCache, domainCache } from '../domains/domainCache.ts'
import { domainCacheRepository } from '../domains/domainCacheRepository.ts'
import { type DomainQuestions, domainQuestions } from '../domains/domainQuestions.ts'
import { localDomainRoutes } from '../domains/localDomainRoutes.ts'
import { planRepository } from '../domains/planRepository.ts'
import { propagation } from '../domains/propagation/propagation.ts'
import { zonePlans } from '../domains/zonePlans.ts'
import type { AgentGround } from './agentGround.ts'

export type DomainParts = {
  cache: DomainCache
  questions: DomainQuestions
  /** Account and service, as rows name them. */
  place: () => string
  endpoints: LocalEndpoint[]
}

/** Domains as they are known here, also without the service. */
export function domainParts(ground: AgentGround): DomainParts {
  const { config, database, client, link, hosted, activity, events, scope, log, now } = ground
  const service = hosted?.url ?? 'embedded'
  const domainLog = log.of('domains')
  const questions = domainQuestions(client)
  const records = domainCacheRepository(database, service)
  const cache = scope.own(
    domainCache({
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
      if (type === 'ready') cache.reconnected()
      cache.outdate()
      // What is kept is there when the service is not, also where nobody looked at it before.
      cache.kept(questions.list()).catch((failure) => domainLog.info('domains could not be read', { failure }))
    }),
    (leave) => leave(),
  )
  const plans = zonePlans({
    plans: planRepository(database, records.place),
    ...{ client, cache, questions, now, log: domainLog },
    newId: () => `plan_${randomBytes(12).toString('hex')}`,
  })
  const spread = propagation({
    ...{ cache, questions, resolvers: config.domains.propagation_resolvers },
    isOwnService: hosted === undefined,
  })
  const endpoints = localDomainRoutes({ cache, questions, plans, propagation: spread, note: activity.note })
  return { cache, questions, place: records.place, endpoints }
}
