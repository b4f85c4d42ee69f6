import { DnsPlan } from '../../../shared/contract/localDomains.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type PlanRepository = {
  /** Adds it, or takes the place of the one with its id. */
  keep(plan: DnsPlan): void
  find(id: string): DnsPlan | undefined
  /** Newest first. */
  ofDomain(domain: string): DnsPlan[]
  /** Ends plans that were being applied when Steward stopped, of any account. */
  endInterrupted(error: string): void
}

/** Plans of one domain that are kept. */
const mostPlans = 20

/** @param place account and service whose plans are found and kept: another account has its own */
export function planRepository(database: Database, place: () => string): PlanRepository {
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
  const endInterrupted = database.prepare<[string]>(
    `UPDATE dns_plans SET state = 'failed', plan = json_set(plan, '$.state', 'failed', '$.error', ?)
      WHERE state = 'applying' AND json_valid(plan)`,
  )
  return {
    keep(plan) {
      const { id, domain, state, created_at: createdAt } = plan
      keep.run(id, place(), domain, state, JSON.stringify(plan), Date.parse(createdAt))
      forget.run(place(), domain, place(), domain, mostPlans)
    },
    find: (id) => [find.get(place(), id)].flatMap(understood)[0],
    ofDomain: (domain) => ofDomain.all(place(), domain).flatMap(understood),
    endInterrupted: (error) => void endInterrupted.run(error),
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
