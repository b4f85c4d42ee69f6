import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, type Params, text } from '#storage/table.ts'

const leases = defineTable('purchase_leases', { purchase: text(), intentId: text() })

/** Leases of purchases: the intent that is buying an item. Each call runs in a transaction of the caller. */
export type PurchaseLeaseRepository = {
  findHolder(purchase: string): string | undefined
  set(purchase: string, intentId: string): void
  remove(intentId: string): void
}

export function createPurchaseLeaseRepository(database: Database): PurchaseLeaseRepository {
  const find = database.prepare<[Params<'purchase'>], { intentId: string }>(
    `SELECT ${leases.selection()} FROM purchase_leases WHERE purchase = @purchase`,
  )
  const set = database.prepare<[Params<'purchase' | 'intentId'>]>(leases.upsert(['purchase']))
  const remove = database.prepare<[Params<'intentId'>]>('DELETE FROM purchase_leases WHERE intent_id = @intentId')
  return {
    findHolder: (purchase) => find.get({ purchase })?.intentId,
    set: (purchase, intentId) => void set.run({ purchase, intentId }),
    remove: (intentId) => void remove.run({ intentId }),
  }
}
