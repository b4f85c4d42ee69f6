import type { AccountRequest } from '#shared/contract/accountRequests.ts'
import { ChainType } from '#shared/contract/wallet.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
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

export type AccountRequestRepository = {
  /** Adds a request or replaces the earlier one of the same wallet. */
  save(request: AccountRequestRecord): void
  find(id: string): AccountRequestRecord | undefined
  ofWallet(wallet: WalletName): AccountRequestRecord | undefined
  /** Lists pending requests before decided ones, each newest first. */
  list(limit: number): AccountRequestRecord[]
  countWaiting(): number
  remove(wallet: WalletName): void
  /** Removes requests that were made or decided before these times, and all but the newest `max` decided ones. */
  trim(bounds: { waitingBeforeMs: number; decidedBeforeMs: number; max: number }): void
}

export function createAccountRequestRepository(database: Database): AccountRequestRepository {
  const selection = `SELECT ${requests.selection()} FROM account_requests`
  const add = database.prepare<[Params<keyof Row | 'caip10'>]>(requests.insertWith({ caip10: '@caip10' }))
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const ofWallet = database.prepare<[Params<'caip10'>], StoredRow>(`${selection} WHERE caip10 = @caip10`)
  const list = database.prepare<[Params<'limit'>], StoredRow>(
    `${selection} ORDER BY state = 'waiting' DESC, coalesce(decided_at_ms, asked_at_ms) DESC, rowid DESC LIMIT @limit`,
  )
  const countWaiting = database.prepare<[], { count: number }>(
    `SELECT count(*) AS count FROM account_requests WHERE state = 'waiting'`,
  )
  const remove = database.prepare<[Params<'caip10'>]>('DELETE FROM account_requests WHERE caip10 = @caip10')
  const removeOld = database.prepare<[Params<'waitingBeforeMs' | 'decidedBeforeMs'>]>(
    `DELETE FROM account_requests
     WHERE (state = 'waiting' AND asked_at_ms < @waitingBeforeMs) OR decided_at_ms < @decidedBeforeMs`,
  )
  const removeMost = database.prepare<[Params<'most'>]>(
    `DELETE FROM account_requests WHERE state <> 'waiting' AND id NOT IN (
       SELECT id FROM account_requests WHERE state <> 'waiting' ORDER BY decided_at_ms DESC, rowid DESC LIMIT @most)`,
  )
  const fromRow = (row: StoredRow): AccountRequestRecord => {
    const { type, address, ...request } = requests.fromRow(row)
    return { ...request, wallet: { type, address } }
  }
  const fromOptionalRow = (row: StoredRow | undefined) => row && fromRow(row)

  return {
    save: database.transaction(({ wallet, ...request }: AccountRequestRecord) => {
      const caip10 = toWalletKey(wallet)
      remove.run({ caip10 })
      const { type, address } = wallet
      add.run({ ...requests.params({ ...request, type, address }), caip10 })
    }),
    find: (id) => fromOptionalRow(find.get({ id })),
    ofWallet: (wallet) => fromOptionalRow(ofWallet.get({ caip10: toWalletKey(wallet) })),
    list: (limit) => list.all({ limit }).map(fromRow),
    countWaiting: () => countWaiting.get()?.count ?? 0,
    remove: (wallet) => void remove.run({ caip10: toWalletKey(wallet) }),
    trim({ waitingBeforeMs, decidedBeforeMs, max }) {
      removeOld.run({ waitingBeforeMs, decidedBeforeMs })
      removeMost.run({ most: max })
    },
  }
}
