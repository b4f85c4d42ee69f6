import { DnsPlan } from '#shared/contract/localDomains.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, json, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const plans = defineTable('dns_plans', {
  id: text(),
  /** Account and service, as returned by `DomainCacheRepository.getOwner`. */
  service: text(),
  domain: text(),
  state: text<DnsPlan['state']>(),
  plan: json(DnsPlan.parse),
  createdAtMs: number(),
})

/** Rows that cannot be parsed are skipped and never applied. */
export type PlanRepository = {
  /** Inserts the plan or replaces the plan with the same id. */
  keep(plan: DnsPlan): void
  find(id: string): DnsPlan | undefined
  /** Lists plans, newest first. */
  ofDomain(domain: string): DnsPlan[]
  /** Fails the plans of all accounts that were being applied when Steward stopped. */
  endInterrupted(error: string): void
}

const maxPlansPerDomain = 20

/** @param getOwner returns the account and service of the plans */
export function createPlanRepository(database: Database, getOwner: () => string): PlanRepository {
  const keep = database.prepare<[Params<keyof RowOf<typeof plans>>]>(
    `${plans.insert} ON CONFLICT (id) DO UPDATE SET ${plans.assignments(['state', 'plan'])}`,
  )
  const removeOld = database.prepare<[Params<'service' | 'domain' | 'limit'>]>(
    `DELETE FROM dns_plans WHERE service = @service AND domain = @domain AND id NOT IN
      (SELECT id FROM dns_plans WHERE service = @service AND domain = @domain
       ORDER BY created_at_ms DESC, rowid DESC LIMIT @limit)`,
  )
  const selection = `SELECT ${plans.selection()} FROM dns_plans`
  const find = database.prepare<[Params<'service' | 'id'>], StoredRow>(
    `${selection} WHERE service = @service AND id = @id`,
  )
  const ofDomain = database.prepare<[Params<'service' | 'domain'>], StoredRow>(
    `${selection} WHERE service = @service AND domain = @domain ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const endInterrupted = database.prepare<[Params<'error'>]>(
    `UPDATE dns_plans SET state = 'failed', plan = json_set(plan, '$.state', 'failed', '$.error', @error)
      WHERE state = 'applying' AND json_valid(plan)`,
  )
  return {
    keep(plan) {
      const { id, domain, state, created_at } = plan
      const service = getOwner()
      keep.run(plans.params({ id, service, domain, state, plan, createdAtMs: Date.parse(created_at) }))
      removeOld.run({ service, domain, limit: maxPlansPerDomain })
    },
    find: (id) => plans.tryFromRow(find.get({ service: getOwner(), id }))?.plan,
    ofDomain: (domain) =>
      ofDomain.all({ service: getOwner(), domain }).flatMap((row) => plans.tryFromRow(row)?.plan ?? []),
    endInterrupted: (error) => void endInterrupted.run({ error }),
  }
}
