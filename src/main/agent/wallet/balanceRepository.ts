import type { WalletAccountId } from '#shared/contract/wallet.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const balances = defineTable('balances', {
  accountId: text<WalletAccountId>(),
  network: text(),
  /** Decimal text of atomic units, which may exceed an integer of SQLite. */
  usdc: text(),
  /** Native currency, in wei or lamports. */
  coin: text(),
  asOfMs: number(),
})
export type StoredBalance = RowOf<typeof balances>

export type BalanceRepository = {
  /** Skips accounts that were removed concurrently. */
  save(balances: readonly StoredBalance[]): void
  listByNetwork(network: string): StoredBalance[]
}

export function createBalanceRepository(database: Database): BalanceRepository {
  const findAccount = database.prepare<[Params<'accountId'>]>('SELECT 1 FROM wallet_accounts WHERE id = @accountId')
  const save = database.prepare<[Params<keyof StoredBalance>]>(balances.upsert(['accountId', 'network']))
  const find = database.prepare<[Params<'network'>], StoredRow>(
    `SELECT ${balances.selection()} FROM balances WHERE network = @network`,
  )
  const saveAll = database.transaction((rows: readonly StoredBalance[]) => {
    for (const row of rows) if (findAccount.get({ accountId: row.accountId })) save.run(balances.params(row))
  })
  return {
    save: (rows) => saveAll.immediate(rows),
    listByNetwork: (network) => find.all({ network }).map(balances.fromRow),
  }
}
