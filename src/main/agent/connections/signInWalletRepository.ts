import { WalletAccountId } from '#shared/contract/wallet.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, type Params, type RowOf, renameColumn, type StoredRow, text } from '#storage/table.ts'

const wallets = defineTable('sign_in_wallets', {
  serviceUrl: text(),
  accountId: renameColumn('wallet_account', text<WalletAccountId>(WalletAccountId.parse)),
  address: text(),
  /** Account at the service. Null before the first sign-in. */
  serviceAccount: nullable(text()),
})
/** Account of the wallet that signs in to a hosted service. */
export type SignInWallet = Omit<RowOf<typeof wallets>, 'serviceUrl'>

export type SignInWalletRepository = {
  find(serviceUrl: string): SignInWallet | undefined
  set(serviceUrl: string, wallet: SignInWallet): void
}

export function createSignInWalletRepository(database: Database): SignInWalletRepository {
  const find = database.prepare<[Params<'serviceUrl'>], StoredRow>(
    `SELECT ${wallets.selection()} FROM sign_in_wallets WHERE service_url = @serviceUrl`,
  )
  const set = database.prepare<[Params<keyof RowOf<typeof wallets>>]>(wallets.upsert(['serviceUrl']))
  return {
    find(serviceUrl) {
      const row = find.get({ serviceUrl })
      if (!row) return undefined
      const { serviceUrl: _, ...wallet } = wallets.fromRow(row)
      return wallet
    },
    set: (serviceUrl, { accountId, address, serviceAccount }) =>
      void set.run(wallets.params({ serviceUrl, accountId, address, serviceAccount })),
  }
}
