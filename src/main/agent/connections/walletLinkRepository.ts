import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

/**
 * - `linking`: about to be linked
 * - `linked`: linked at the last comparison with the service
 * - `unlinking`: removed from this wallet, not yet unlinked
 * - `off`: unlinked by the user; Steward does not link it again
 */
export type WalletLinkState = 'linking' | 'linked' | 'unlinking' | 'off'

/** Account of links that were never compared. They are compared with the next service that connects. */
export const anyServiceAccount = ''

const links = defineTable('wallet_links', {
  serviceAccount: text(),
  address: text(),
  state: text<WalletLinkState>(),
  /** Whether Steward linked the wallet automatically and therefore unlinks it automatically. */
  isOwn: flag(),
})
export type StoredWalletLink = RowOf<typeof links>
type LinkKey = Pick<StoredWalletLink, 'serviceAccount' | 'address'>

export type WalletLinkRepository = {
  list(serviceAccount: string): StoredWalletLink[]
  listAll(): StoredWalletLink[]
  find(serviceAccount: string, address: string): StoredWalletLink | undefined
  set(link: StoredWalletLink): void
  remove(link: LinkKey): void
}

export function createWalletLinkRepository(database: Database): WalletLinkRepository {
  const selection = `SELECT ${links.selection()} FROM wallet_links`
  const list = database.prepare<[Params<'serviceAccount'>], StoredRow>(
    `${selection} WHERE service_account = @serviceAccount`,
  )
  const listAll = database.prepare<[], StoredRow>(selection)
  const find = database.prepare<[Params<keyof LinkKey>], StoredRow>(
    `${selection} WHERE service_account = @serviceAccount AND address = @address`,
  )
  const set = database.prepare<[Params<keyof StoredWalletLink>]>(links.upsert(['serviceAccount', 'address']))
  const remove = database.prepare<[Params<keyof LinkKey>]>(
    'DELETE FROM wallet_links WHERE service_account = @serviceAccount AND address = @address',
  )
  return {
    list: (serviceAccount) => list.all({ serviceAccount }).map(links.fromRow),
    listAll: () => listAll.all().map(links.fromRow),
    find(serviceAccount, address) {
      const row = find.get({ serviceAccount, address })
      return row && links.fromRow(row)
    },
    set: (link) => void set.run(links.params(link)),
    remove: ({ serviceAccount, address }) => void remove.run({ serviceAccount, address }),
  }
}
