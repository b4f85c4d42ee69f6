import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'
import type { RegistrarId } from './registrars/registrar.ts'

/**
 * - `leased`: paid; the registrar has not been called
 * - `asked`: the registrar was called or is about to be; the outcome is unknown
 */
export type OrderState = 'leased' | 'asked' | 'done' | 'failed'

const orders = defineTable('domain_orders', {
  id: text(),
  accountId: text<AccountId>(),
  domain: text(),
  type: text<'registration' | 'renewal'>(),
  years: number(),
  amountCents: number(),
  /** Expiry of the domain before its renewal. Null for registrations. */
  expiresBeforeMs: nullable(number()),
  state: text<OrderState>(),
  createdAtMs: number(),
  registrar: text<RegistrarId>(),
})
export type Order = RowOf<typeof orders>

export type OrderRepository = {
  /** @returns false if another order for this domain is in progress */
  add(order: Order): boolean
  setState(id: string, state: OrderState): void
  find(id: string): Order | undefined
  /** Newest first. */
  list(accountId: AccountId, max: number): Order[]
  /** Lists the unfinished orders at a registrar. */
  open(registrar: RegistrarId): Order[]
}

export function createOrderRepository(database: Database): OrderRepository {
  const selection = `SELECT ${orders.selection()} FROM domain_orders`
  const add = database.prepare<[Params<keyof Order>]>(
    `${orders.insertWith({ sequence: '(SELECT coalesce(max(sequence), 0) + 1 FROM domain_orders)' })}
     ON CONFLICT (registrar, domain) WHERE state IN ('leased', 'asked') DO NOTHING`,
  )
  const setState = database.prepare<[Params<'id' | 'state'>]>('UPDATE domain_orders SET state = @state WHERE id = @id')
  const list = database.prepare<[Params<'accountId' | 'limit'>], StoredRow>(
    `${selection} WHERE account_id = @accountId ORDER BY sequence DESC LIMIT @limit`,
  )
  const open = database.prepare<[Params<'registrar'>], StoredRow>(
    `${selection} WHERE registrar = @registrar AND state IN ('leased', 'asked') ORDER BY sequence`,
  )
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  return {
    add: (order) => add.run(orders.params(order)).changes > 0,
    setState: (id, state) => void setState.run({ id, state }),
    find(id) {
      const row = find.get({ id })
      return row && orders.fromRow(row)
    },
    list: (accountId, limit) => list.all({ accountId, limit }).map(orders.fromRow),
    open: (registrar) => open.all({ registrar }).map(orders.fromRow),
  }
}
