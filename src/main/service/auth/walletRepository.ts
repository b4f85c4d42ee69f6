import { accountNetworks } from '../../../shared/contract/networks.ts'
import { ChainType } from '../../../shared/contract/wallet.ts'
import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type WalletRecord = {
  accountId: AccountId
  type: ChainType
  /** EVM: with the checksum of EIP-55. */
  address: string
  linkedAtMs: number
}
export type WalletName = Pick<WalletRecord, 'type' | 'address'>

export type WalletRepository = {
  find(wallet: WalletName): WalletRecord | undefined
  add(wallet: WalletRecord): void
  remove(wallet: WalletName): void
  /** The first linked comes first. */
  list(accountId: AccountId): WalletRecord[]
}

type WalletRow = { accountId: string; type: string; address: string; linkedAtMs: number }
const columns = 'account_id AS accountId, type, address, linked_at_ms AS linkedAtMs'

export function walletRepository(database: Database): WalletRepository {
  const find = database.prepare<[string], WalletRow>(`SELECT ${columns} FROM account_wallets WHERE caip10 = ?`)
  const add = database.prepare<[string, string, string, string, number]>(
    'INSERT INTO account_wallets VALUES (?, ?, ?, ?, ?)',
  )
  const remove = database.prepare<[string]>('DELETE FROM account_wallets WHERE caip10 = ?')
  const list = database.prepare<[string], WalletRow>(
    `SELECT ${columns} FROM account_wallets WHERE account_id = ? ORDER BY linked_at_ms, rowid`,
  )
  return {
    find(wallet) {
      const row = find.get(walletKey(wallet))
      return row && recordOf(row)
    },
    add(wallet) {
      const { accountId, type, address, linkedAtMs } = wallet
      add.run(walletKey(wallet), accountId, type, address, linkedAtMs)
    },
    remove(wallet) {
      remove.run(walletKey(wallet))
    },
    list: (accountId) => list.all(accountId).map(recordOf),
  }
}

/** The account on its chain: https://chainagnostic.org/CAIPs/caip-10 */
export function caip10({ type, address }: WalletName): string {
  return `${accountNetworks[type]}:${address}`
}

/** One wallet is one row, however its address is written. */
export function walletKey({ type, address }: WalletName): string {
  return caip10({ type, address: type === 'evm' ? address.toLowerCase() : address })
}

function recordOf(row: WalletRow): WalletRecord {
  return { ...row, accountId: AccountId.parse(row.accountId), type: ChainType.parse(row.type) }
}
