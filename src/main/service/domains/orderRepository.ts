import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'
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

const selection = `SELECT ${orders.selection()} FROM domain_orders`
const insert = defineStatement<Params<keyof Order>>(
  `${orders.insertWith({ sequence: '(SELECT coalesce(max(sequence), 0) + 1 FROM domain_orders)' })}
   ON CONFLICT (registrar, domain) WHERE state IN ('leased', 'asked') DO NOTHING`,
)
const change = defineStatement<Params<'id' | 'from' | 'to'>>(
  'UPDATE domain_orders SET state = @to WHERE id = @id AND state = @from',
)
const complete = defineStatement<Params<'id'>>(
  `UPDATE domain_orders SET state = 'done' WHERE id = @id AND state <> 'done'`,
)
const find = defineStatement<Params<'id'>>(`${selection} WHERE id = @id`).withRows(orders.fromRow)
const list = defineStatement<Params<'accountId' | 'limit'>>(
  `${selection} WHERE account_id = @accountId ORDER BY sequence DESC LIMIT @limit`,
).withRows(orders.fromRow)
const listOpen = defineStatement<Params<'registrar'>>(
  `${selection} WHERE registrar = @registrar AND state IN ('leased', 'asked') ORDER BY sequence`,
).withRows(orders.fromRow)

export const orderStatements = { insert, change, complete, find, list, listOpen }

export const orderRepository = {
  /** @returns false if another order for this domain is in progress */
  add: async (tx: Transaction, order: Order): Promise<boolean> => (await tx.run(insert, orders.params(order))) > 0,
  /** @returns false if the order has another state than `from` */
  changeState: async (
    tx: Transaction,
    id: string,
    { from, to }: { from: OrderState; to: OrderState },
  ): Promise<boolean> => (await tx.run(change, { id, from, to })) > 0,
  /** Marks the order as done. @returns false if it already is */
  complete: async (tx: Transaction, id: string): Promise<boolean> => (await tx.run(complete, { id })) > 0,
  find: (query: Query, id: string): Promise<Order | undefined> => query.first(find, { id }),
  /** Newest first. */
  list: (query: Query, accountId: AccountId, limit: number): Promise<Order[]> => query.all(list, { accountId, limit }),
  /** Lists the unfinished orders at a registrar, oldest first. */
  listOpen: (query: Query, registrar: RegistrarId): Promise<Order[]> => query.all(listOpen, { registrar }),
}
