import { WalletAccountId } from '../../../shared/contract/wallet.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Account of the wallet that signs in to a hosted service. */
export type SignInWallet = {
  accountId: WalletAccountId
  address: string
  /** Account of the service; null until it has signed in. */
  serviceAccount: string | null
}

export type SignInWalletRepository = {
  find(serviceUrl: string): SignInWallet | undefined
  set(serviceUrl: string, wallet: SignInWallet): void
}

type Row = Omit<SignInWallet, 'accountId'> & { accountId: string }

export function signInWalletRepository(database: Database): SignInWalletRepository {
  const find = database.prepare<[string], Row>(
    `SELECT wallet_account AS accountId, address, service_account AS serviceAccount FROM sign_in_wallets
     WHERE service_url = ?`,
  )
  const set = database.prepare<[string, string, string, string | null]>(
    'INSERT OR REPLACE INTO sign_in_wallets VALUES (?, ?, ?, ?)',
  )
  return {
    find(serviceUrl) {
      const row = find.get(serviceUrl)
      return row && { ...row, accountId: WalletAccountId.parse(row.accountId) }
    },
    set(serviceUrl, { accountId, address, serviceAccount }) {
      set.run(serviceUrl, accountId, address, serviceAccount)
    },
  }
}
