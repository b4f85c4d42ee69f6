import type { WalletAccountId } from '../../../shared/contract/wallet.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type KeptBalance = {
  accountId: WalletAccountId
  network: string
  /** Atomic units as decimal text: more than an integer of SQLite holds. */
  usdc: string
  /** Of ether or SOL. */
  coin: string
  asOfMs: number
}

export type BalanceRepository = {
  /** An account that was removed in the meantime is passed over. */
  save(balances: readonly KeptBalance[]): void
  of(network: string): KeptBalance[]
}

export function balanceRepository(database: Database): BalanceRepository {
  const save = database.prepare<KeptBalance>(
    `INSERT INTO balances (account_id, network, usdc, coin, as_of_ms)
     SELECT :accountId, :network, :usdc, :coin, :asOfMs
     WHERE EXISTS (SELECT 1 FROM wallet_accounts WHERE id = :accountId)
     ON CONFLICT (account_id, network)
     DO UPDATE SET usdc = excluded.usdc, coin = excluded.coin, as_of_ms = excluded.as_of_ms`,
  )
  const find = database.prepare<[string], KeptBalance>(
    'SELECT account_id AS accountId, network, usdc, coin, as_of_ms AS asOfMs FROM balances WHERE network = ?',
  )
  return {
    save: database.transaction((balances: readonly KeptBalance[]) => {
      for (const balance of balances) save.run(balance)
    }),
    of: (network) => find.all(network),
  }
}
