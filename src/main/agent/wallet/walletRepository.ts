import { AppError } from '#shared/appError.ts'
import {
  type ChainType,
  Keyring,
  type KeyringId,
  type WalletAccount,
  WalletAccountId,
} from '#shared/contract/wallet.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'
import { createAccountIdRepository } from './accountIdRepository.ts'
import { deriveAccountId } from './accountIds.ts'

const keyringTable = defineTable('keyrings', {
  id: text(),
  kind: text<'phrase' | 'private_key'>(),
  label: text(),
  words: nullable(number()),
  written_down: flag(),
  created_at_ms: number(),
})
const accountTable = defineTable('wallet_accounts', {
  id: text(),
  keyring_id: text(),
  chain_type: text<ChainType>(),
  address: text(),
  /** BIP-44 path; null for imported private keys. */
  path: nullable(text()),
  label: text(),
  created_at_ms: number(),
})
/** Settings never contain secrets. */
const settingTable = defineTable('agent_settings', { key: text(), value: json() })
export type KeyringRow = RowOf<typeof keyringTable>
export type AccountRow = RowOf<typeof accountTable>

export type WalletRepository = {
  /** Lists keyrings, oldest first. */
  keyrings(): KeyringRow[]
  /** Lists accounts, oldest first. */
  accounts(): AccountRow[]
  account(id: string): AccountRow | undefined
  addKeyring(row: KeyringRow): void
  addAccount(row: AccountRow): void
  renameKeyring(id: KeyringId, label: string): boolean
  renameAccount(id: WalletAccountId, label: string): boolean
  /** Changes the id of each account to the id derived from its address, in all references. */
  deriveIds(): void
  /** Changes all addresses in one transaction, because two accounts may swap theirs. */
  correctAddresses(right: readonly Pick<AccountRow, 'id' | 'address'>[]): void
  markWrittenDown(id: KeyringId): boolean
  removeKeyring(id: string): void
  setting(key: string): unknown
  set(key: string, value: unknown): void
  atomically<T>(work: () => T): T
}

export function createWalletRepository(database: Database): WalletRepository {
  const keyrings = database.prepare<[], StoredRow>(
    `SELECT ${keyringTable.selection()} FROM keyrings ORDER BY created_at_ms, rowid`,
  )
  const accountSelection = `SELECT ${accountTable.selection()} FROM wallet_accounts`
  const accounts = database.prepare<[], StoredRow>(`${accountSelection} ORDER BY created_at_ms, rowid`)
  const account = database.prepare<[Params<'id'>], StoredRow>(`${accountSelection} WHERE id = @id`)
  const addKeyring = database.prepare<[Params<keyof KeyringRow>]>(keyringTable.insert)
  const addAccount = database.prepare<[Params<keyof AccountRow>]>(accountTable.insert)
  const renameKeyring = database.prepare<[Params<'id' | 'label'>]>('UPDATE keyrings SET label = @label WHERE id = @id')
  const renameAccount = database.prepare<[Params<'id' | 'label'>]>(
    'UPDATE wallet_accounts SET label = @label WHERE id = @id',
  )
  const setAddress = database.prepare<[Params<'id' | 'address'>]>(
    'UPDATE wallet_accounts SET address = @address WHERE id = @id',
  )
  const markWrittenDown = database.prepare<[Params<'id'>]>('UPDATE keyrings SET written_down = 1 WHERE id = @id')
  const removeKeyring = database.prepare<[Params<'id'>]>('DELETE FROM keyrings WHERE id = @id')
  const setting = database.prepare<[Params<'key'>], StoredRow>(
    `SELECT ${settingTable.selection()} FROM agent_settings WHERE key = @key`,
  )
  const set = database.prepare<[Params<'key' | 'value'>]>(settingTable.upsert(['key']))
  const ids = createAccountIdRepository(database)
  return {
    keyrings: () => keyrings.all().map(keyringTable.fromRow),
    accounts: () => accounts.all().map(accountTable.fromRow),
    account(id) {
      const row = account.get({ id })
      return row && accountTable.fromRow(row)
    },
    addKeyring: (row) => void addKeyring.run(keyringTable.params(row)),
    addAccount: (row) => void addAccount.run(accountTable.params(row)),
    renameKeyring: (id, label) => renameKeyring.run({ id, label }).changes > 0,
    renameAccount: (id, label) => renameAccount.run({ id, label }).changes > 0,
    deriveIds() {
      const wrong = accounts.all().flatMap((row) => {
        const { id: from, chain_type, address } = accountTable.fromRow(row)
        const to = deriveAccountId(chain_type, address)
        return from === to ? [] : [{ from, to }]
      })
      if (wrong.length > 0) ids.change(wrong)
    },
    correctAddresses(right) {
      const work = database.transaction(() => {
        for (const { id } of right) setAddress.run({ id, address: `wrong, of ${id}` })
        for (const { id, address } of right) setAddress.run({ id, address })
      })
      work.immediate()
    },
    markWrittenDown: (id) => markWrittenDown.run({ id }).changes > 0,
    removeKeyring: (id) => void removeKeyring.run({ id }),
    setting(key) {
      const row = setting.get({ key })
      return row && settingTable.fromRow(row).value
    },
    set: (key, value) => void set.run(settingTable.params({ key, value })),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

/** @throws AppError `wallet/keyring-not-found` */
export function requireKeyring(repository: WalletRepository, id: string): Keyring {
  const row = repository.keyrings().find((keyring) => keyring.id === id)
  if (!row) throw new AppError('wallet/keyring-not-found', `There is no phrase or key ${id}.`)
  return toWireKeyring(row, repository.accounts())
}

/** @throws AppError `wallet/account-not-found` */
export function requireAccount(repository: WalletRepository, id: string): AccountRow {
  const row = repository.account(id)
  if (!row) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
  return row
}

export function toWireKeyring(row: KeyringRow, accounts: readonly AccountRow[]): Keyring {
  return Keyring.parse({
    id: row.id,
    kind: row.kind,
    label: row.label,
    words: row.words,
    written_down: row.written_down,
    created_at: toIsoTime(row.created_at_ms),
    accounts: accounts.filter((account) => account.keyring_id === row.id).map(accountToWire),
  })
}

function accountToWire(row: AccountRow): Omit<WalletAccount, 'id' | 'keyring_id'> & { id: string; keyring_id: string } {
  return {
    id: row.id,
    keyring_id: row.keyring_id,
    chain_type: row.chain_type,
    address: row.address,
    derivation_path: row.path,
    label: row.label,
    created_at: toIsoTime(row.created_at_ms),
  }
}

export function toAccountId({ id }: AccountRow): WalletAccountId {
  return WalletAccountId.parse(id)
}
