import { z } from 'zod'
import { AccountId } from '../../../shared/ids.ts'
import { type MicroUsd, microUsd } from '../../../shared/microUsd.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type Account = { id: AccountId; role: 'owner' | 'user'; name: string; createdAtMs: number }

export type ApiKeyRecord = {
  id: string
  accountId: AccountId
  name: string
  /** SHA-256 of the key; the key itself is never kept. */
  hash: Buffer
  prefix: string
  inOwnerFile: boolean
  createdAtMs: number
  lastUsedAtMs: number | null
  /** The models it may use; null: all. */
  models: readonly string[] | null
  /** Of one day of UTC; null: none. */
  dailyLimit: MicroUsd | null
  /** Sign-in that created it, and the key of its wallet, whose removal deletes it. */
  issuer: { signIn: string; wallet: string } | null
}

export type KeyHolder = {
  keyId: string
  name: string
  accountId: AccountId
  owner: boolean
  inOwnerFile: boolean
  hash: Buffer
  lastUsedAtMs: number | null
}

export type AccountRepository = {
  findOwner(): Account | undefined
  hasAccount(accountId: string): boolean
  addAccount(account: Account): void
  addKey(key: ApiKeyRecord): void
  findHolder(hash: Buffer): KeyHolder | undefined
  listKeys(accountId: AccountId): ApiKeyRecord[]
  findRules(keyId: string): Pick<ApiKeyRecord, 'accountId' | 'models' | 'dailyLimit'> | undefined
  findKey(accountId: AccountId, keyId: string): ApiKeyRecord | undefined
  /** @param wallet its key */
  listKeysIssuedBy(wallet: string): ApiKeyRecord[]
  countKeysOfSignIn(accountId: AccountId, signIn: string): number
  removeKey(keyId: string): void
  removeOwnerFileKeys(accountId: AccountId): void
  hasOwnerFileKey(accountId: AccountId): boolean
  markUsed(keyId: string, atMs: number): void
  atomically<T>(work: () => T): T
}

type RulesRow = { models: string | null; dailyLimit: number | null }
type KeyRow = Omit<ApiKeyRecord, 'inOwnerFile' | 'accountId' | 'issuer' | keyof RulesRow> &
  RulesRow & { accountId: string; inOwnerFile: 0 | 1; issuerWallet: string | null; issuerSignIn: string | null }

const keyColumns = `id, account_id AS accountId, name, hash, prefix, in_owner_file AS inOwnerFile,
  created_at_ms AS createdAtMs, last_used_at_ms AS lastUsedAtMs, models, daily_limit_micro_usd AS dailyLimit,
  issuer_caip10 AS issuerWallet, issuer_sign_in AS issuerSignIn`

export function accountRepository(database: Database): AccountRepository {
  const findOwner = database.prepare<[], Account>(
    `SELECT id, role, name, created_at_ms AS createdAtMs FROM accounts WHERE role = 'owner'`,
  )
  const addAccount = database.prepare<[string, string, string, number]>('INSERT INTO accounts VALUES (?, ?, ?, ?)')
  const addKey = database.prepare<
    [
      ...[string, string, string, Buffer, string, number, number, number | null],
      ...[string | null, number | null, string | null, string | null],
    ]
  >(
    `INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms, last_used_at_ms,
       models, daily_limit_micro_usd, issuer_caip10, issuer_sign_in)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const findHolder = database.prepare<
    [Buffer],
    Omit<KeyHolder, 'accountId' | 'owner' | 'inOwnerFile'> & { accountId: string; owner: 0 | 1; inOwnerFile: 0 | 1 }
  >(
    `SELECT api_keys.id AS keyId, api_keys.name, account_id AS accountId, role = 'owner' AS owner,
       in_owner_file AS inOwnerFile, hash, last_used_at_ms AS lastUsedAtMs
     FROM api_keys JOIN accounts ON accounts.id = account_id WHERE hash = ?`,
  )
  const listKeys = database.prepare<[string], KeyRow>(
    `SELECT ${keyColumns} FROM api_keys WHERE account_id = ? ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const findKey = database.prepare<[string, string], KeyRow>(
    `SELECT ${keyColumns} FROM api_keys WHERE account_id = ? AND id = ?`,
  )
  const removeKey = database.prepare<[string]>('DELETE FROM api_keys WHERE id = ?')
  const removeOwnerFileKeys = database.prepare<[string]>(
    'DELETE FROM api_keys WHERE account_id = ? AND in_owner_file = 1',
  )
  const ownerFileKeys = database.prepare<[string], { count: number }>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = ? AND in_owner_file = 1',
  )
  const issuedBy = database.prepare<[string], KeyRow>(`SELECT ${keyColumns} FROM api_keys WHERE issuer_caip10 = ?`)
  const ofSignIn = database.prepare<[string, string], { count: number }>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = ? AND issuer_sign_in = ?',
  )
  const findRules = database.prepare<[string], RulesRow & { accountId: string }>(
    'SELECT account_id AS accountId, models, daily_limit_micro_usd AS dailyLimit FROM api_keys WHERE id = ?',
  )
  const hasAccount = database.prepare<[string]>('SELECT 1 FROM accounts WHERE id = ?')
  const markUsed = database.prepare<[number, string]>('UPDATE api_keys SET last_used_at_ms = ? WHERE id = ?')

  return {
    findOwner: () => findOwner.get(),
    hasAccount: (accountId) => hasAccount.get(accountId) !== undefined,
    addAccount({ id, role, name, createdAtMs }) {
      addAccount.run(id, role, name, createdAtMs)
    },
    addKey(key) {
      const inOwnerFile = key.inOwnerFile ? 1 : 0
      const { id, accountId, name, hash, prefix, createdAtMs, lastUsedAtMs, dailyLimit, issuer } = key
      const models = key.models && JSON.stringify(key.models)
      const issued = [issuer?.wallet ?? null, issuer?.signIn ?? null] as const
      addKey.run(
        id,
        accountId,
        name,
        hash,
        prefix,
        inOwnerFile,
        createdAtMs,
        lastUsedAtMs,
        models,
        dailyLimit,
        ...issued,
      )
    },
    findHolder(hash) {
      const row = findHolder.get(hash)
      if (!row) return undefined
      const { owner, inOwnerFile } = row
      return { ...row, accountId: AccountId.parse(row.accountId), owner: owner === 1, inOwnerFile: inOwnerFile === 1 }
    },
    listKeys: (accountId) => listKeys.all(accountId).map(keyOf),
    findRules(keyId) {
      const row = findRules.get(keyId)
      return row && { ...rulesOf(row), accountId: AccountId.parse(row.accountId) }
    },
    findKey(accountId, keyId) {
      const row = findKey.get(accountId, keyId)
      return row && keyOf(row)
    },
    listKeysIssuedBy: (wallet) => issuedBy.all(wallet).map(keyOf),
    countKeysOfSignIn: (accountId, signIn) => ofSignIn.get(accountId, signIn)?.count ?? 0,
    removeKey(keyId) {
      removeKey.run(keyId)
    },
    removeOwnerFileKeys(accountId) {
      removeOwnerFileKeys.run(accountId)
    },
    hasOwnerFileKey: (accountId) => (ownerFileKeys.get(accountId)?.count ?? 0) > 0,
    markUsed(keyId, atMs) {
      markUsed.run(atMs, keyId)
    },
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function keyOf({ issuerWallet: wallet, issuerSignIn: signIn, ...row }: KeyRow): ApiKeyRecord {
  const inOwnerFile = row.inOwnerFile === 1
  const issuer = wallet !== null && signIn !== null ? { wallet, signIn } : null
  return { ...row, ...rulesOf(row), accountId: AccountId.parse(row.accountId), inOwnerFile, issuer }
}

const Models = z.array(z.string())

function rulesOf({ models, dailyLimit }: RulesRow): Pick<ApiKeyRecord, 'models' | 'dailyLimit'> {
  return {
    models: models === null ? null : Models.parse(JSON.parse(models)),
    dailyLimit: dailyLimit === null ? null : microUsd(dailyLimit),
  }
}
