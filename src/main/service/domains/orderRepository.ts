import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { RegistrarId } from './registrars/registrar.ts'

/**
 * - `leased`: paid, and the registrar was not asked yet
 * - `asked`: the registrar was asked, or is about to be: what became of it is not known
 */
export type OrderState = 'leased' | 'asked' | 'done' | 'failed'

export type Order = {
  id: string
  accountId: AccountId
  domain: string
  type: 'registration' | 'renewal'
  years: number
  amountCents: number
  /** Of a renewal: until when it was registered before. */
  expiresBeforeMs: number | null
  state: OrderState
  createdAtMs: number
  registrar: RegistrarId
}

export type OrderRepository = {
  /** False where another order of this domain is under way. */
  add(order: Order): boolean
  setState(id: string, state: OrderState): void
  find(id: string): Order | undefined
  /** Newest first. */
  list(accountId: AccountId, most: number): Order[]
  /** Those of a registrar that have not ended. */
  open(registrar: RegistrarId): Order[]
}

type Row = Omit<Order, 'accountId'> & { accountId: string }
const columns = `id, account_id AS accountId, domain, type, years, amount_cents AS amountCents,
  expires_before_ms AS expiresBeforeMs, state, created_at_ms AS createdAtMs, registrar`

export function orderRepository(database: Database): OrderRepository {
  const add = database.prepare<[string, string, string, string, number, number, number | null, string, number, string]>(
    `INSERT INTO domain_orders
     VALUES (?, (SELECT coalesce(max(sequence), 0) + 1 FROM domain_orders), ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (registrar, domain) WHERE state IN ('leased', 'asked') DO NOTHING`,
  )
  const setState = database.prepare<[OrderState, string]>('UPDATE domain_orders SET state = ? WHERE id = ?')
  const list = database.prepare<[string, number], Row>(
    `SELECT ${columns} FROM domain_orders WHERE account_id = ? ORDER BY sequence DESC LIMIT ?`,
  )
  const open = database.prepare<[string], Row>(
    `SELECT ${columns} FROM domain_orders WHERE registrar = ? AND state IN ('leased', 'asked') ORDER BY sequence`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM domain_orders WHERE id = ?`)
  const toOrder = (row: Row): Order => ({ ...row, accountId: AccountId.parse(row.accountId) })
  return {
    add: (it) =>
      add.run(
        ...([it.id, it.accountId, it.domain, it.type, it.years, it.amountCents] as const),
        ...([it.expiresBeforeMs, it.state, it.createdAtMs, it.registrar] as const),
      ).changes > 0,
    setState: (id, state) => void setState.run(state, id),
    find(id) {
      const row = find.get(id)
      return row && toOrder(row)
    },
    list: (accountId, most) => list.all(accountId, most).map(toOrder),
    open: (registrar) => open.all(registrar).map(toOrder),
  }
}
