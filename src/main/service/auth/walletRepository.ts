import { accountNetworks } from '#shared/contract/networks.ts'
import { ChainType } from '#shared/contract/wallet.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

/** The key `caip10` is derived from type and address. */
const wallets = defineTable('account_wallets', {
  accountId: text<AccountId>(),
  type: text(ChainType.parse),
  /** EVM addresses have the EIP-55 checksum. */
  address: text(),
  linkedAtMs: number(),
  /** Address of the wallet whose sign-in linked it. */
  linkedBy: nullable(text()),
})
export type WalletRecord = RowOf<typeof wallets>
export type WalletName = Pick<WalletRecord, 'type' | 'address'>

export type WalletRepository = {
  find(wallet: WalletName): WalletRecord | undefined
  add(wallet: WalletRecord): void
  remove(wallet: WalletName): void
  /** Lists the wallets of an account in the order in which they were linked. */
  list(accountId: AccountId): WalletRecord[]
}

export function createWalletRepository(database: Database): WalletRepository {
  const selection = `SELECT ${wallets.selection()} FROM account_wallets`
  const find = database.prepare<[Params<'caip10'>], StoredRow>(`${selection} WHERE caip10 = @caip10`)
  const add = database.prepare<[Params<keyof WalletRecord | 'caip10'>]>(wallets.insertWith({ caip10: '@caip10' }))
  const remove = database.prepare<[Params<'caip10'>]>('DELETE FROM account_wallets WHERE caip10 = @caip10')
  const list = database.prepare<[Params<'accountId'>], StoredRow>(
    `${selection} WHERE account_id = @accountId ORDER BY linked_at_ms, rowid`,
  )
  return {
    find(wallet) {
      const row = find.get({ caip10: toWalletKey(wallet) })
      return row && wallets.fromRow(row)
    },
    add: (wallet) => void add.run({ ...wallets.params(wallet), caip10: toWalletKey(wallet) }),
    remove: (wallet) => void remove.run({ caip10: toWalletKey(wallet) }),
    list: (accountId) => list.all({ accountId }).map(wallets.fromRow),
  }
}

/** CAIP-10 account id of a wallet: https://chainagnostic.org/CAIPs/caip-10 */
export function toCaip10({ type, address }: WalletName): string {
  return `${accountNetworks[type]}:${address}`
}

/** Returns the same key for a wallet regardless of the case of its EVM address. */
export function toWalletKey({ type, address }: WalletName): string {
  return toCaip10({ type, address: type === 'evm' ? address.toLowerCase() : address })
}
