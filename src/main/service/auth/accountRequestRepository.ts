import type { AccountRequest } from '../../../shared/contract/accountRequests.ts'
import { ChainType } from '../../../shared/contract/wallet.ts'
import type { Database } from '../../storage/openDatabase.ts'
import { type WalletName, walletKey } from './walletRepository.ts'

export type AccountRequestRecord = {
  id: string
  wallet: WalletName
  state: AccountRequest['state']
  askedAtMs: number
  decidedAtMs: number | null
}

export type AccountRequestRepository = {
  /** Adds it, or replaces what this wallet asked before. */
  save(request: AccountRequestRecord): void
  find(id: string): AccountRequestRecord | undefined
  ofWallet(wallet: WalletName): AccountRequestRecord | undefined
  /** Those that wait first, then the newest. */
  list(limit: number): AccountRequestRecord[]
  countWaiting(): number
  remove(wallet: WalletName): void
  /** Removes what was asked or decided before these times, and of the decided ones all but the newest `most`. */
  trim(given: { waitingBeforeMs: number; decidedBeforeMs: number; most: number }): void
}

type Row = Omit<AccountRequestRecord, 'wallet' | 'state'> & {
  type: string
  address: string
  state: AccountRequest['state']
}

export function accountRequestRepository(database: Database): AccountRequestRepository {
  const columns = 'id, type, address, state, asked_at_ms AS askedAtMs, decided_at_ms AS decidedAtMs'
  const save = database.prepare<[string, string, string, string, string, number, number | null]>(
    'INSERT OR REPLACE INTO account_requests VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM account_requests WHERE id = ?`)
  const ofWallet = database.prepare<[string], Row>(`SELECT ${columns} FROM account_requests WHERE caip10 = ?`)
  const list = database.prepare<[number], Row>(
    `SELECT ${columns} FROM account_requests
     ORDER BY state = 'waiting' DESC, coalesce(decided_at_ms, asked_at_ms) DESC, rowid DESC LIMIT ?`,
  )
  const countWaiting = database.prepare<[], { count: number }>(
    `SELECT count(*) AS count FROM account_requests WHERE state = 'waiting'`,
  )
  const remove = database.prepare<[string]>('DELETE FROM account_requests WHERE caip10 = ?')
  const removeOld = database.prepare<[number, number]>(
    `DELETE FROM account_requests WHERE (state = 'waiting' AND asked_at_ms < ?) OR decided_at_ms < ?`,
  )
  const removeMost = database.prepare<[number]>(
    `DELETE FROM account_requests WHERE id IN (
       SELECT id FROM account_requests WHERE state <> 'waiting' ORDER BY decided_at_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`,
  )
  const known = (row: Row | undefined) => row && recordOf(row)

  return {
    save({ id, wallet, state, askedAtMs, decidedAtMs }) {
      save.run(id, walletKey(wallet), wallet.type, wallet.address, state, askedAtMs, decidedAtMs)
    },
    find: (id) => known(find.get(id)),
    ofWallet: (wallet) => known(ofWallet.get(walletKey(wallet))),
    list: (limit) => list.all(limit).map(recordOf),
    countWaiting: () => countWaiting.get()?.count ?? 0,
    remove(wallet) {
      remove.run(walletKey(wallet))
    },
    trim({ waitingBeforeMs, decidedBeforeMs, most }) {
      removeOld.run(waitingBeforeMs, decidedBeforeMs)
      removeMost.run(most)
    },
  }
}

function recordOf({ type, address, ...row }: Row): AccountRequestRecord {
  return { ...row, wallet: { type: ChainType.parse(type), address } }
}
