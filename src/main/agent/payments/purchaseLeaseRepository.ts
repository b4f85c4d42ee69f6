import type { Database } from '../../storage/openDatabase.ts'

/** Which request is buying a thing. Each call is meant for a transaction of the caller. */
export type PurchaseLeaseRepository = {
  findHolder(purchase: string): string | undefined
  set(purchase: string, intentId: string): void
  remove(intentId: string): void
}

export function purchaseLeaseRepository(database: Database): PurchaseLeaseRepository {
  const find = database.prepare<[string], { intentId: string }>(
    'SELECT intent_id AS intentId FROM purchase_leases WHERE purchase = ?',
  )
  const set = database.prepare<[string, string]>('INSERT OR REPLACE INTO purchase_leases VALUES (?, ?)')
  const remove = database.prepare<[string]>('DELETE FROM purchase_leases WHERE intent_id = ?')
  return {
    findHolder: (purchase) => find.get(purchase)?.intentId,
    set: (purchase, intentId) => void set.run(purchase, intentId),
    remove: (intentId) => void remove.run(intentId),
  }
}
