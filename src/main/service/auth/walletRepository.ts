import { accountNetworks } from '#shared/contract/networks.ts'
import { ChainType } from '#shared/contract/wallet.ts'
import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

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

const selection = `SELECT ${wallets.selection()} FROM account_wallets`

export const walletStatements = {
  find: defineStatement<Params<'caip10'>>(`${selection} WHERE caip10 = @caip10`).withRows(wallets.fromRow),
  add: defineStatement<Params<keyof WalletRecord | 'caip10'>>(wallets.insertWith({ caip10: '@caip10' })),
  remove: defineStatement<Params<'caip10'>>('DELETE FROM account_wallets WHERE caip10 = @caip10'),
  list: defineStatement<Params<'accountId'>>(
    `${selection} WHERE account_id = @accountId ORDER BY linked_at_ms, caip10`,
  ).withRows(wallets.fromRow),
}

/** Wallets that sign in to accounts. */
export const walletRepository = {
  find: (query: Query, wallet: WalletName): Promise<WalletRecord | undefined> =>
    query.first(walletStatements.find, { caip10: toWalletKey(wallet) }),
  async add(tx: Transaction, wallet: WalletRecord): Promise<void> {
    await tx.run(walletStatements.add, { ...wallets.params(wallet), caip10: toWalletKey(wallet) })
  },
  async remove(tx: Transaction, wallet: WalletName): Promise<void> {
    await tx.run(walletStatements.remove, { caip10: toWalletKey(wallet) })
  },
  /** Lists the wallets of an account in the order in which they were linked. */
  list: (query: Query, accountId: AccountId): Promise<WalletRecord[]> =>
    query.all(walletStatements.list, { accountId }),
}

/** CAIP-10 account id of a wallet: https://chainagnostic.org/CAIPs/caip-10 */
export function toCaip10({ type, address }: WalletName): string {
  return `${accountNetworks[type]}:${address}`
}

/** Returns the same key for a wallet regardless of the case of its EVM address. */
export function toWalletKey({ type, address }: WalletName): string {
  return toCaip10({ type, address: type === 'evm' ? address.toLowerCase() : address })
}
