import { DnsPlan } from '../../../shared/contract/localDomains.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type PlanRepository = {
  /** Adds it, or takes the place of the one with its id. */
  keep(plan: DnsPlan): void
  find(id: string): DnsPlan | undefined
  /** Newest first. */
  ofDomain(domain: string): DnsPlan[]
  /** Plans that were being applied when Steward stopped. */
  interrupted(): DnsPlan[]
}

/** Plans of one domain that are kept. */
const mostPlans = 20

export function planRepository(database: Database, service: string): PlanRepository {
  const keep = database.prepare<[string, string, string, string, string, number]>(
    `INSERT INTO dns_plans (id, service, domain, state, plan, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, plan = excluded.plan`,
  )
  const forget = database.prepare<[string, string, string, string, number]>(
    `DELETE FROM dns_plans WHERE service = ? AND domain = ? AND id NOT IN
      (SELECT id FROM dns_plans WHERE service = ? AND domain = ? ORDER BY created_at_ms DESC, rowid DESC LIMIT ?)`,
  )
  const find = database.prepare<[string, string], { plan: string }>(
    'SELECT plan FROM dns_plans WHERE service = ? AND id = ?',
  )
  const ofDomain = database.prepare<[string, string], { plan: string }>(
    'SELECT plan FROM dns_plans WHERE service = ? AND domain = ? ORDER BY created_at_ms DESC, rowid DESC',
  )
  const interrupted = database.prepare<[string], { plan: string }>(
    `SELECT plan FROM dns_plans WHERE service = ? AND state = 'applying'`,
  )
  return {
    keep(plan) {
      const { id, domain, state, created_at: createdAt } = plan
      keep.run(id, service, domain, state, JSON.stringify(plan), Date.parse(createdAt))
      forget.run(service, domain, service, domain, mostPlans)
    },
    find: (id) => [find.get(service, id)].flatMap(understood)[0],
    ofDomain: (domain) => ofDomain.all(service, domain).flatMap(understood),
    interrupted: () => interrupted.all(service).flatMap(understood),
  }
}

/** A damaged row is shown to nobody, and never applied. */
function understood(row: { plan: string } | undefined): DnsPlan[] {
  try {
    return row ? [DnsPlan.parse(JSON.parse(row.plan))] : []
  } catch {
    return []
  }
}
