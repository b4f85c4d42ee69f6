import { keyedQueue } from '#platform/keyedQueue.ts'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import { addDnsRecord, changeDnsRecord, type DnsRecord, removeDnsRecord } from '#shared/contract/dnsRecords.ts'
import type { DnsPlan, DnsPlanStep, WantedRecord } from '#shared/contract/localDomains.ts'
import { type DnsRecordData, dnsLimits, hasDistance } from '#shared/dns/dnsRecord.ts'
import { sentValue, ZonePlanFault, zonePlan } from '#shared/dns/zonePlan.ts'
import { withoutSteps } from '#shared/dns/zoneUndo.ts'
import { isoTime } from '#shared/time.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { DomainCache } from './domainCache.ts'
import type { DomainQuestions } from './domainQuestions.ts'
import type { PlanRepository } from './planRepository.ts'

/** Changes of DNS records that a person sees before they are made. Every plan is made from the zone as it is then. */
export type ZonePlans = {
  /** @throws AppError `request/invalid` for a record that cannot be; what the service answers when it cannot be read */
  make(domain: string, wanted: readonly WantedRecord[]): Promise<DnsPlan>
  /**
   * Step by step; what was done stays done when a step fails, and the plan tells which.
   * @throws AppError `dns/moved` when the zone is not the one that the plan was made from, `dns/plan-state`
   */
  apply(id: string): Promise<DnsPlan>
  /** The plan that takes back what a plan did; what others did since stays. @throws AppError `dns/plan-state` where nothing was applied */
  undo(id: string): Promise<DnsPlan>
  /** Without the service, of the account that was signed in last. */
  list(domain: string): Promise<DnsPlan[]>
}

export function zonePlans(options: {
  plans: PlanRepository
  client: Pick<ServiceClient, 'call'>
  cache: Pick<DomainCache, 'asked' | 'account'>
  questions: Pick<DomainQuestions, 'zone'>
  newId: () => string
  now: () => number
  log: Log
}): ZonePlans {
  const { plans, client, cache, questions, newId, now, log } = options
  const queue = keyedQueue()
  plans.endInterrupted('Steward stopped while this was applied. Review the records.')

  /** A zone that cannot be read has no records that anybody could know of: the failure goes to the caller. */
  const zoneNow = (domain: string) => cache.asked(questions.zone(domain, { fresh: true }))
  /** Of the account that is signed in now. A plan of another one is as unknown as none. */
  const found = async (id: string): Promise<DnsPlan> => {
    await cache.account()
    const plan = plans.find(id)
    if (plan) return plan
    throw new AppError('dns/plan-not-found', `There is no plan ${id}.`)
  }
  const planned = async (
    domain: string,
    wantedOf: (present: DnsPlan['before']) => readonly DnsRecordData[],
    undoOf: string | null,
  ): Promise<DnsPlan> => {
    const zone = await zoneNow(domain)
    const before = zone.records.map(presentRecord)
    const wanted = wantedOf(before)
    const plan: DnsPlan = {
      ...{ id: newId(), domain, state: 'ready', hash: zone.hash, before, error: null, undo_of: undoOf },
      steps: steps(domain, before, wanted).map((step) => ({ ...step, state: 'waiting' })),
      created_at: isoTime(now()),
    }
    plans.keep(plan)
    return plan
  }
  const taken = async ({ id, domain }: DnsPlan, step: DnsPlanStep, at: number): Promise<void> => {
    if (step.action === 'remove') await client.call(removeDnsRecord, { domain, recordId: step.before.id })
    else if (step.action === 'change') {
      await client.call(changeDnsRecord, { domain, recordId: step.before.id, ...sent(step.after) })
    } else {
      const record = { domain, type: step.after.type, ...sent(step.after) }
      await client.call(addDnsRecord, record, { idempotencyKey: `dns-plan-${id}-${at}` })
    }
  }
  const applied = async (plan: DnsPlan): Promise<DnsPlan> => {
    let current: DnsPlan = { ...plan, state: 'applying' }
    const become = (change: Partial<DnsPlan>): void => {
      current = { ...current, ...change }
      plans.keep(current)
    }
    become({})
    for (const [at, step] of plan.steps.entries()) {
      const marked = (state: DnsPlanStep['state']) =>
        current.steps.map((it, index) => (index === at ? { ...it, state } : it))
      try {
        await taken(plan, step, at)
        become({ steps: marked('done') })
      } catch (failure) {
        log.warn('a DNS change failed', { domain: plan.domain, step: at, failure })
        const error = failure instanceof AppError ? failure.message : 'Something went wrong here.'
        become({ state: 'failed', steps: marked('failed'), error })
        return current
      }
    }
    become({ state: 'applied' })
    return current
  }

  return {
    make: (domain, wanted) => planned(domain, () => wanted.map(filled), null),
    async apply(id) {
      const { domain } = await found(id)
      return await queue.run(domain, async () => {
        const plan = await found(id) // again: it may have been applied while this waited
        if (plan.state !== 'ready') throw new AppError('dns/plan-state', stateWords[plan.state])
        const zone = await zoneNow(domain)
        if (zone.hash !== plan.hash) {
          plans.keep({ ...plan, state: 'moved' })
          throw new AppError('dns/moved', `The records of ${domain} changed meanwhile.`)
        }
        const result = await applied(plan)
        await zoneNow(domain).catch((failure) => log.info('a zone could not be read again', { domain, failure }))
        return result
      })
    },
    async undo(id) {
      const plan = await found(id)
      if (plan.state === 'applied' || plan.state === 'failed')
        return await planned(plan.domain, (present) => withoutSteps(present, plan.steps), plan.id)
      throw new AppError('dns/plan-state', 'Nothing of this plan was applied.')
    },
    async list(domain) {
      await cache.account().catch(unlessAway)
      return plans.ofDomain(domain)
    },
  }
}

const stateWords: Readonly<Record<Exclude<DnsPlan['state'], 'ready'>, string>> = {
  applying: 'This plan is being applied.',
  applied: 'This plan was applied already.',
  failed: 'This plan was applied in part.',
  moved: 'The records changed since this plan was made.',
}

function unlessAway(failure: unknown): void {
  if (!(failure instanceof AppError && failure.status >= 500)) throw failure
}

function steps(domain: string, before: DnsPlan['before'], wanted: readonly DnsRecordData[]) {
  try {
    return zonePlan(domain, before, wanted)
  } catch (fault) {
    if (!(fault instanceof ZonePlanFault)) throw fault
    throw wrongRecord(fault)
  }
}

function wrongRecord(fault: ZonePlanFault): AppError {
  return new AppError('request/invalid', `Record ${fault.at + 1}: ${fault.message}`, { cause: fault })
}

function presentRecord({ id, type, host, value, ttl, distance }: DnsRecord): DnsPlan['before'][number] {
  return { id, type, host, value, ttl, distance: distance ?? null }
}

function filled({ type, host, value, ttl, distance }: WantedRecord): DnsRecordData {
  return {
    ...{ type, host, value, ttl: ttl ?? dnsLimits.ttl.default },
    distance: distance ?? (hasDistance(type) ? dnsLimits.distance.default : null),
  }
}

function sent(record: DnsRecordData) {
  const { host, ttl, distance } = record
  return { host, value: sentValue(record), ttl, distance }
}
