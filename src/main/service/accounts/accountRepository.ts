import { z } from 'zod'
import type { AccountId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  bytes,
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

const accounts = defineTable('accounts', {
  id: text<AccountId>(),
  role: text<'owner' | 'user'>(),
  name: text(),
  createdAtMs: number(),
})
const holderColumns = {
  accountId: text<AccountId>(),
  name: text(),
  /** SHA-256 of the key. The key is not stored. */
  hash: bytes(),
  inOwnerFile: flag(),
  lastUsedAtMs: nullable(number()),
}
const Models = z.array(z.string())
const ruleColumns = {
  accountId: text<AccountId>(),
  /** Models that the key may use. Null allows all models. */
  models: nullable(json<readonly string[]>(Models.parse)),
  /** Daily limit (UTC day). Null means no limit. */
  dailyLimit: renameColumn('daily_limit_micro_usd', nullable(number(toMicroUsd))),
}
const apiKeys = defineTable('api_keys', {
  ...holderColumns,
  ...ruleColumns,
  id: text(),
  prefix: text(),
  createdAtMs: number(),
  issuerWallet: renameColumn('issuer_caip10', nullable(text())),
  issuerSignIn: nullable(text()),
})
const holders = defineTable('api_keys', { keyId: renameColumn('id', text()), ...holderColumns })
const rules = defineTable('api_keys', ruleColumns)

export type Account = RowOf<typeof accounts>
type StoredKey = RowOf<typeof apiKeys>
export type ApiKeyRecord = Omit<StoredKey, 'issuerWallet' | 'issuerSignIn'> & {
  /** Sign-in that created the key, and the key of its wallet. Unlinking the wallet deletes the API key. */
  issuer: { signIn: string; wallet: string } | null
}
export type KeyHolder = RowOf<typeof holders> & { owner: boolean }

export type AccountRepository = {
  findOwner(): Account | undefined
  hasAccount(accountId: string): boolean
  addAccount(account: Account): void
  addKey(key: ApiKeyRecord): void
  findHolder(hash: Buffer): KeyHolder | undefined
  /** Newest first. */
  listKeys(accountId: AccountId): ApiKeyRecord[]
  findRules(keyId: string): RowOf<typeof rules> | undefined
  findKey(accountId: AccountId, keyId: string): ApiKeyRecord | undefined
  /** @param wallet key of the wallet */
  listKeysIssuedBy(wallet: string): ApiKeyRecord[]
  countKeysOfSignIn(accountId: AccountId, signIn: string): number
  removeKey(keyId: string): void
  removeOwnerFileKeys(accountId: AccountId): void
  hasOwnerFileKey(accountId: AccountId): boolean
  markUsed(keyId: string, atMs: number): void
  atomically<T>(work: () => T): T
}

export function createAccountRepository(database: Database): AccountRepository {
  const keySelection = `SELECT ${apiKeys.selection()} FROM api_keys`
  const findOwner = database.prepare<[], StoredRow>(`SELECT ${accounts.selection()} FROM accounts WHERE role = 'owner'`)
  const addAccount = database.prepare<[Params<keyof Account>]>(accounts.insert)
  const addKey = database.prepare<[Params<keyof StoredKey>]>(apiKeys.insert)
  const findHolder = database.prepare<[Params<'hash'>], StoredRow>(
    `SELECT ${holders.selection('api_keys')}, role = 'owner' AS owner
     FROM api_keys JOIN accounts ON accounts.id = account_id WHERE hash = @hash`,
  )
  const listKeys = database.prepare<[Params<'accountId'>], StoredRow>(
    `${keySelection} WHERE account_id = @accountId ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const findKey = database.prepare<[Params<'accountId' | 'keyId'>], StoredRow>(
    `${keySelection} WHERE account_id = @accountId AND id = @keyId`,
  )
  const removeKey = database.prepare<[Params<'keyId'>]>('DELETE FROM api_keys WHERE id = @keyId')
  const removeOwnerFileKeys = database.prepare<[Params<'accountId'>]>(
    'DELETE FROM api_keys WHERE account_id = @accountId AND in_owner_file = 1',
  )
  const countOwnerFileKeys = database.prepare<[Params<'accountId'>], { count: number }>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = @accountId AND in_owner_file = 1',
  )
  const listIssuedBy = database.prepare<[Params<'wallet'>], StoredRow>(`${keySelection} WHERE issuer_caip10 = @wallet`)
  const countOfSignIn = database.prepare<[Params<'accountId' | 'signIn'>], { count: number }>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = @accountId AND issuer_sign_in = @signIn',
  )
  const findRules = database.prepare<[Params<'keyId'>], StoredRow>(
    `SELECT ${rules.selection()} FROM api_keys WHERE id = @keyId`,
  )
  const hasAccount = database.prepare<[Params<'accountId'>]>('SELECT 1 FROM accounts WHERE id = @accountId')
  const markUsed = database.prepare<[Params<'keyId' | 'atMs'>]>(
    'UPDATE api_keys SET last_used_at_ms = @atMs WHERE id = @keyId',
  )

  return {
    findOwner() {
      const row = findOwner.get()
      return row && accounts.fromRow(row)
    },
    hasAccount: (accountId) => hasAccount.get({ accountId }) !== undefined,
    addAccount: (account) => void addAccount.run(accounts.params(account)),
    addKey({ issuer, ...key }) {
      const issuerWallet = issuer?.wallet ?? null
      addKey.run(apiKeys.params({ ...key, issuerWallet, issuerSignIn: issuer?.signIn ?? null }))
    },
    findHolder(hash) {
      const row = findHolder.get({ hash })
      return row && { ...holders.fromRow(row), owner: row.owner === 1 }
    },
    listKeys: (accountId) => listKeys.all({ accountId }).map(toApiKey),
    findRules(keyId) {
      const row = findRules.get({ keyId })
      return row && rules.fromRow(row)
    },
    findKey(accountId, keyId) {
      const row = findKey.get({ accountId, keyId })
      return row && toApiKey(row)
    },
    listKeysIssuedBy: (wallet) => listIssuedBy.all({ wallet }).map(toApiKey),
    countKeysOfSignIn: (accountId, signIn) => countOfSignIn.get({ accountId, signIn })?.count ?? 0,
    removeKey: (keyId) => void removeKey.run({ keyId }),
    removeOwnerFileKeys: (accountId) => void removeOwnerFileKeys.run({ accountId }),
    hasOwnerFileKey: (accountId) => (countOwnerFileKeys.get({ accountId })?.count ?? 0) > 0,
    markUsed: (keyId, atMs) => void markUsed.run({ keyId, atMs }),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function toApiKey(row: StoredRow): ApiKeyRecord {
  const { issuerWallet: wallet, issuerSignIn: signIn, ...key } = apiKeys.fromRow(row)
  return { ...key, issuer: wallet !== null && signIn !== null ? { wallet, signIn } : null }
}
