import type { AccountRequest } from '#shared/contract/accountRequests.ts'
import { ChainType } from '#shared/contract/wallet.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'
import { toWalletKey, type WalletName } from './walletRepository.ts'

/** The unique column `caip10` contains the `walletKey` of type and address. */
const requests = defineTable('account_requests', {
  id: text(),
  type: text(ChainType.parse),
  address: text(),
  state: text<AccountRequest['state']>(),
  askedAtMs: number(),
  decidedAtMs: nullable(number()),
})
type Row = RowOf<typeof requests>
export type AccountRequestRecord = Omit<Row, 'type' | 'address'> & { wallet: WalletName }

const selection = `SELECT ${requests.selection()} FROM account_requests`

export const accountRequestStatements = {
  add: defineStatement<Params<keyof Row | 'caip10'>>(requests.insertWith({ caip10: '@caip10' })),
  find: defineStatement<Params<'id'>>(`${selection} WHERE id = @id`).withRows(fromRow),
  findOfWallet: defineStatement<Params<'caip10'>>(`${selection} WHERE caip10 = @caip10`).withRows(fromRow),
  list: defineStatement<Params<'limit'>>(
    `${selection} ORDER BY state = 'waiting' DESC, coalesce(decided_at_ms, asked_at_ms) DESC, id DESC LIMIT @limit`,
  ).withRows(fromRow),
  countWaiting: defineStatement(`SELECT count(*) AS count FROM account_requests WHERE state = 'waiting'`).withRows(
    (row) => Number(row.count),
  ),
  remove: defineStatement<Params<'caip10'>>('DELETE FROM account_requests WHERE caip10 = @caip10'),
  removeOld: defineStatement<Params<'waitingBeforeMs' | 'decidedBeforeMs'>>(
    `DELETE FROM account_requests
     WHERE (state = 'waiting' AND asked_at_ms < @waitingBeforeMs) OR decided_at_ms < @decidedBeforeMs`,
  ),
  removeMost: defineStatement<Params<'max'>>(
    `DELETE FROM account_requests WHERE state <> 'waiting' AND id NOT IN (
       SELECT id FROM account_requests WHERE state <> 'waiting' ORDER BY decided_at_ms DESC, id DESC LIMIT @max)`,
  ),
}

/** Requests for accounts, one for each wallet. */
export const accountRequestRepository = {
  /** Adds a request or replaces the earlier one of the same wallet. */
  async save(tx: Transaction, { wallet, ...request }: AccountRequestRecord): Promise<void> {
    const { type, address } = wallet
    const caip10 = toWalletKey(wallet)
    await tx.run(accountRequestStatements.remove, { caip10 })
    await tx.run(accountRequestStatements.add, { ...requests.params({ ...request, type, address }), caip10 })
  },
  find: (query: Query, id: string): Promise<AccountRequestRecord | undefined> =>
    query.first(accountRequestStatements.find, { id }),
  findOfWallet: (query: Query, wallet: WalletName): Promise<AccountRequestRecord | undefined> =>
    query.first(accountRequestStatements.findOfWallet, { caip10: toWalletKey(wallet) }),
  /** Lists pending requests before decided ones, each newest first. */
  list: (query: Query, limit: number): Promise<AccountRequestRecord[]> =>
    query.all(accountRequestStatements.list, { limit }),
  async countWaiting(query: Query): Promise<number> {
    return (await query.first(accountRequestStatements.countWaiting)) ?? 0
  },
  /** @returns whether the wallet had a request */
  async remove(tx: Transaction, wallet: WalletName): Promise<boolean> {
    return (await tx.run(accountRequestStatements.remove, { caip10: toWalletKey(wallet) })) > 0
  },
  /** Removes requests that were made or decided before these times, and all but the newest `max` decided ones. */
  async trim(
    tx: Transaction,
    bounds: { waitingBeforeMs: number; decidedBeforeMs: number; max: number },
  ): Promise<void> {
    const { max, ...times } = bounds
    await tx.run(accountRequestStatements.removeOld, times)
    await tx.run(accountRequestStatements.removeMost, { max })
  },
}

function fromRow(row: StoredRow): AccountRequestRecord {
  const { type, address, ...request } = requests.fromRow(row)
  return { ...request, wallet: { type, address } }
}
