import { AppError } from '../../../shared/appError.ts'
import {
  type ChainType,
  Keyring,
  type KeyringId,
  type WalletAccount,
  WalletAccountId,
} from '../../../shared/contract/wallet.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Database } from '../../storage/openDatabase.ts'
import { accountIdRepository } from './accountIdRepository.ts'
import { deriveAccountId } from './accountIds.ts'

export type KeyringRow = {
  id: string
  kind: 'phrase' | 'private_key'
  label: string
  words: number | null
  written_down: 0 | 1
  created_at_ms: number
}
export type AccountRow = {
  id: string
  keyring_id: string
  chain_type: ChainType
  address: string
  path: string | null
  label: string
  created_at_ms: number
}

export type WalletRepository = {
  keyrings(): KeyringRow[]
  accounts(): AccountRow[]
  account(id: string): AccountRow | undefined
  addKeyring(row: KeyringRow): void
  addAccount(row: AccountRow): void
  renameKeyring(id: KeyringId, label: string): boolean
  renameAccount(id: WalletAccountId, label: string): boolean
  /** Gives every account the id that its address has, wherever it is referred to. */
  deriveIds(): void
  /** All at once: two may have changed places. */
  correctAddresses(right: readonly Pick<AccountRow, 'id' | 'address'>[]): void
  markWrittenDown(id: KeyringId): boolean
  removeKeyring(id: string): void
  setting(key: string): unknown
  set(key: string, value: unknown): void
  atomically<T>(work: () => T): T
}

export function walletRepository(database: Database): WalletRepository {
  const keyrings = database.prepare<[], KeyringRow>('SELECT * FROM keyrings ORDER BY created_at_ms, rowid')
  const accounts = database.prepare<[], AccountRow>('SELECT * FROM wallet_accounts ORDER BY created_at_ms, rowid')
  const account = database.prepare<[string], AccountRow>('SELECT * FROM wallet_accounts WHERE id = ?')
  const addKeyring = database.prepare<[KeyringRow]>(
    'INSERT INTO keyrings VALUES (@id, @kind, @label, @words, @written_down, @created_at_ms)',
  )
  const addAccount = database.prepare<[AccountRow]>(
    `INSERT INTO wallet_accounts VALUES (@id, @keyring_id, @chain_type, @address, @path, @label, @created_at_ms)`,
  )
  const renameKeyring = database.prepare<[string, string]>('UPDATE keyrings SET label = ? WHERE id = ?')
  const renameAccount = database.prepare<[string, string]>('UPDATE wallet_accounts SET label = ? WHERE id = ?')
  const setAddress = database.prepare<[string, string]>('UPDATE wallet_accounts SET address = ? WHERE id = ?')
  const markWrittenDown = database.prepare<[string]>('UPDATE keyrings SET written_down = 1 WHERE id = ?')
  const removeKeyring = database.prepare<[string]>('DELETE FROM keyrings WHERE id = ?')
  const setting = database.prepare<[string], { value: string }>('SELECT value FROM agent_settings WHERE key = ?')
  const set = database.prepare<[string, string]>('INSERT OR REPLACE INTO agent_settings VALUES (?, ?)')
  const ids = accountIdRepository(database)
  return {
    keyrings: () => keyrings.all(),
    accounts: () => accounts.all(),
    account: (id) => account.get(id),
    addKeyring: (row) => void addKeyring.run(row),
    addAccount: (row) => void addAccount.run(row),
    renameKeyring: (id, label) => renameKeyring.run(label, id).changes > 0,
    renameAccount: (id, label) => renameAccount.run(label, id).changes > 0,
    deriveIds() {
      const wrong = accounts.all().flatMap(({ id: from, chain_type, address }) => {
        const to = deriveAccountId(chain_type, address)
        return from === to ? [] : [{ from, to }]
      })
      if (wrong.length > 0) ids.change(wrong)
    },
    correctAddresses(right) {
      const work = database.transaction(() => {
        for (const { id } of right) setAddress.run(`wrong, of ${id}`, id)
        for (const { id, address } of right) setAddress.run(address, id)
      })
      work.immediate()
    },
    markWrittenDown: (id) => markWrittenDown.run(id).changes > 0,
    removeKeyring: (id) => void removeKeyring.run(id),
    setting(key) {
      const row = setting.get(key)
      return row && JSON.parse(row.value)
    },
    set: (key, value) => void set.run(key, JSON.stringify(value)),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

/** @throws AppError `wallet/keyring-not-found` */
export function knownKeyring(repository: WalletRepository, id: string): Keyring {
  const row = repository.keyrings().find((it) => it.id === id)
  if (!row) throw new AppError('wallet/keyring-not-found', `There is no phrase or key ${id}.`)
  return keyringOf(row, repository.accounts())
}

/** @throws AppError `wallet/account-not-found` */
export function knownAccount(repository: WalletRepository, id: string): AccountRow {
  const row = repository.account(id)
  if (!row) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
  return row
}

export function keyringOf(row: KeyringRow, accounts: readonly AccountRow[]): Keyring {
  return Keyring.parse({
    id: row.id,
    kind: row.kind,
    label: row.label,
    words: row.words,
    written_down: row.written_down === 1,
    created_at: isoTime(row.created_at_ms),
    accounts: accounts.filter((it) => it.keyring_id === row.id).map(accountOf),
  })
}

function accountOf(row: AccountRow): Omit<WalletAccount, 'id' | 'keyring_id'> & { id: string; keyring_id: string } {
  return {
    id: row.id,
    keyring_id: row.keyring_id,
    chain_type: row.chain_type,
    address: row.address,
    derivation_path: row.path,
    label: row.label,
    created_at: isoTime(row.created_at_ms),
  }
}

export function accountIdOf({ id }: AccountRow): WalletAccountId {
  return WalletAccountId.parse(id)
}
