import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { addDnsRecord, changeDnsRecord, type DnsRecord, removeDnsRecord } from '#shared/contract/dnsRecords.ts'
import type { DesiredRecord, DnsPlan, DnsPlanStep } from '#shared/contract/localDomains.ts'
import { type DnsRecordData, dnsLimits, hasDistance } from '#shared/dns/dnsRecord.ts'
import { planZone, toWireValue, ZonePlanError } from '#shared/dns/zonePlan.ts'
import { revertSteps } from '#shared/dns/zoneUndo.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { DomainCache } from './domainCache.ts'
import type { DomainQueries } from './domainQueries.ts'
import type { PlanRepository } from './planRepository.ts'

/** Changes of DNS records that the user reviews first. Each plan is based on the current zone. */
export type ZonePlans = {
  /**
   * @throws AppError `request/invalid` for an invalid record, or the error of the service if the zone cannot be read
   */
  make(domain: string, records: readonly DesiredRecord[]): Promise<DnsPlan>
  /**
   * Applies the steps in order. If a step fails, earlier ones stay applied and the plan shows which.
   * @throws AppError `dns/moved` if the zone changed since planning, `dns/plan-state`
   */
  apply(id: string): Promise<DnsPlan>
  /**
   * Creates a plan that reverts the changes of a plan. Later changes by others stay.
   * @throws AppError `dns/plan-state` if nothing was applied
   */
  undo(id: string): Promise<DnsPlan>
  /** Lists plans. While the service is unavailable, lists plans of the last signed-in account. */
  list(domain: string): Promise<DnsPlan[]>
}

export function createZonePlans(options: {
  plans: PlanRepository
  client: Pick<ServiceClient, 'call'>
  cache: Pick<DomainCache, 'fetchNow' | 'account'>
  queries: Pick<DomainQueries, 'zone'>
  newId: () => string
  now: () => number
  log: Log
}): ZonePlans {
  const { plans, client, cache, queries, newId, now, log } = options
  const queue = createKeyedQueue()
  plans.endInterrupted('Steward stopped while applying this plan. Review the records.')

  /** Never falls back to the cache. Errors are passed to the caller. */
  const zoneNow = (domain: string) => cache.fetchNow(queries.zone(domain, { fresh: true }))
  /** Returns a plan of the signed-in account. Plans of other accounts count as not found. */
  const requirePlan = async (id: string): Promise<DnsPlan> => {
    await cache.account()
    const plan = plans.find(id)
    if (plan) return plan
    throw new AppError('dns/plan-not-found', `There is no plan ${id}.`)
  }
  const createPlan = async (
    domain: string,
    selectRecords: (present: DnsPlan['before']) => readonly DnsRecordData[],
    undoOf: string | null,
  ): Promise<DnsPlan> => {
    const zone = await zoneNow(domain)
    const before = zone.records.map(presentRecord)
    const records = selectRecords(before)
    const plan: DnsPlan = {
      ...{ id: newId(), domain, state: 'ready', hash: zone.hash, before, error: null, undo_of: undoOf },
      steps: planSteps(domain, before, records).map((step) => ({ ...step, state: 'waiting' })),
      created_at: toIsoTime(now()),
    }
    plans.keep(plan)
    return plan
  }
  const performStep = async ({ id, domain }: DnsPlan, step: DnsPlanStep, index: number): Promise<void> => {
    if (step.action === 'remove') await client.call(removeDnsRecord, { domain, recordId: step.before.id })
    else if (step.action === 'change') {
      await client.call(changeDnsRecord, { domain, recordId: step.before.id, ...toRequestBody(step.after) })
    } else {
      const record = { domain, type: step.after.type, ...toRequestBody(step.after) }
      await client.call(addDnsRecord, record, { idempotencyKey: `dns-plan-${id}-${index}` })
    }
  }
  const applySteps = async (plan: DnsPlan): Promise<DnsPlan> => {
    let current: DnsPlan = { ...plan, state: 'applying' }
    const change = (change: Partial<DnsPlan>): void => {
      current = { ...current, ...change }
      plans.keep(current)
    }
    change({})
    for (const [at, step] of plan.steps.entries()) {
      const markStep = (state: DnsPlanStep['state']) =>
        current.steps.map((it, index) => (index === at ? { ...it, state } : it))
      try {
        await performStep(plan, step, at)
        change({ steps: markStep('done') })
      } catch (failure) {
        log.warn('DNS change failed', { domain: plan.domain, step: at, failure })
        const error = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
        change({ state: 'failed', steps: markStep('failed'), error })
        return current
      }
    }
    change({ state: 'applied' })
    return current
  }

  return {
    make: (domain, records) => createPlan(domain, () => records.map(normalizeRecord), null),
    async apply(id) {
      const { domain } = await requirePlan(id)
      return await queue.run(domain, async () => {
        const plan = await requirePlan(id) // checked again, since a queued call may have applied it
        if (plan.state !== 'ready') throw new AppError('dns/plan-state', stateTexts[plan.state])
        const zone = await zoneNow(domain)
        if (zone.hash !== plan.hash) {
          plans.keep({ ...plan, state: 'moved' })
          throw new AppError('dns/moved', `The records of ${domain} changed in the meantime.`)
        }
        const result = await applySteps(plan)
        await zoneNow(domain).catch((error) => log.info('failed to refresh a zone', { domain, error }))
        return result
      })
    },
    async undo(id) {
      const plan = await requirePlan(id)
      if (plan.state === 'applied' || plan.state === 'failed')
        return await createPlan(plan.domain, (present) => revertSteps(present, plan.steps), plan.id)
      throw new AppError('dns/plan-state', 'Nothing of this plan was applied.')
    },
    async list(domain) {
      await cache.account().catch(rethrowUnlessAway)
      return plans.ofDomain(domain)
    },
  }
}

const stateTexts: Readonly<Record<Exclude<DnsPlan['state'], 'ready'>, string>> = {
  applying: 'This plan is being applied.',
  applied: 'This plan was already applied.',
  failed: 'This plan was partly applied.',
  moved: 'The records changed since this plan was made.',
}

function rethrowUnlessAway(error: unknown): void {
  if (!(error instanceof AppError && error.status >= 500)) throw error
}

function planSteps(domain: string, before: DnsPlan['before'], records: readonly DnsRecordData[]) {
  try {
    return planZone(domain, before, records)
  } catch (fault) {
    if (!(fault instanceof ZonePlanError)) throw fault
    throw createInvalidRecordError(fault)
  }
}

function createInvalidRecordError(fault: ZonePlanError): AppError {
  return new AppError('request/invalid', `Record ${fault.index + 1}: ${fault.message}`, { cause: fault })
}

function presentRecord({ id, type, host, value, ttl, distance }: DnsRecord): DnsPlan['before'][number] {
  return { id, type, host, value, ttl, distance: distance ?? null }
}

function normalizeRecord({ type, host, value, ttl, distance }: DesiredRecord): DnsRecordData {
  return {
    ...{ type, host, value, ttl: ttl ?? dnsLimits.ttl.default },
    distance: distance ?? (hasDistance(type) ? dnsLimits.distance.default : null),
  }
}

function toRequestBody(record: DnsRecordData) {
  const { host, ttl, distance } = record
  return { host, value: toWireValue(record), ttl, distance }
}
