import type { Database } from '../../storage/openDatabase.ts'

/**
 * - `linking`: Steward is about to link it
 * - `linked`: was linked when last compared with the service
 * - `unlinking`: was removed from this wallet, and is still to be unlinked
 * - `off`: the user unlinked it; Steward does not link it by itself
 */
export type WalletLinkState = 'linking' | 'linked' | 'unlinking' | 'off'

export type StoredWalletLink = {
  /** Account of the service. */
  serviceAccount: string
  address: string
  state: WalletLinkState
  /** Whether Steward linked it by itself, and so unlinks it by itself. */
  isOwn: boolean
}

export type WalletLinkRepository = {
  list(serviceAccount: string): StoredWalletLink[]
  listAll(): StoredWalletLink[]
  find(serviceAccount: string, address: string): StoredWalletLink | undefined
  set(link: StoredWalletLink): void
  remove(link: Pick<StoredWalletLink, 'serviceAccount' | 'address'>): void
}

type Row = Omit<StoredWalletLink, 'isOwn'> & { isOwn: 0 | 1 }

export function walletLinkRepository(database: Database): WalletLinkRepository {
  const columns = 'service_account AS serviceAccount, address, state, is_own AS isOwn'
  const list = database.prepare<[string], Row>(`SELECT ${columns} FROM wallet_links WHERE service_account = ?`)
  const listAll = database.prepare<[], Row>(`SELECT ${columns} FROM wallet_links`)
  const find = database.prepare<[string, string], Row>(
    `SELECT ${columns} FROM wallet_links WHERE service_account = ? AND address = ?`,
  )
  const set = database.prepare<[string, string, string, number]>(
    'INSERT OR REPLACE INTO wallet_links (service_account, address, state, is_own) VALUES (?, ?, ?, ?)',
  )
  const remove = database.prepare<[string, string]>(
    'DELETE FROM wallet_links WHERE service_account = ? AND address = ?',
  )
  return {
    list: (serviceAccount) => list.all(serviceAccount).map(fromRow),
    listAll: () => listAll.all().map(fromRow),
    find(serviceAccount, address) {
      const row = find.get(serviceAccount, address)
      return row && fromRow(row)
    },
    set({ serviceAccount, address, state, isOwn }) {
      set.run(serviceAccount, address, state, Number(isOwn))
    },
    remove({ serviceAccount, address }) {
      remove.run(serviceAccount, address)
    },
  }
}

function fromRow(row: Row): StoredWalletLink {
  return { ...row, isOwn: row.isOwn === 1 }
}
