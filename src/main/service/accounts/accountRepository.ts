import { z } from 'zod'
import type { AccountId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
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
/** Account of a key, and its limits. */
export type KeyRules = RowOf<typeof rules>

const keySelection = `SELECT ${apiKeys.selection()} FROM api_keys`

export const accountStatements = {
  findOwner: defineStatement(`SELECT ${accounts.selection()} FROM accounts WHERE role = 'owner'`).withRows(
    accounts.fromRow,
  ),
  hasAccount: defineStatement<Params<'accountId'>>('SELECT 1 FROM accounts WHERE id = @accountId').withRows(() => true),
  addAccount: defineStatement<Params<keyof Account>>(accounts.insert),
  addKey: defineStatement<Params<keyof StoredKey>>(apiKeys.insert),
  findHolder: defineStatement<Params<'hash'>>(
    `SELECT ${holders.selection('api_keys')}, role = 'owner' AS owner
     FROM api_keys JOIN accounts ON accounts.id = account_id WHERE hash = @hash`,
  ).withRows((row): KeyHolder => ({ ...holders.fromRow(row), owner: row.owner === 1 })),
  listKeys: defineStatement<Params<'accountId'>>(
    `${keySelection} WHERE account_id = @accountId ORDER BY created_at_ms DESC, id DESC`,
  ).withRows(toApiKey),
  countKeys: defineStatement<Params<'accountId'>>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = @accountId',
  ).withRows(toCount),
  findKey: defineStatement<Params<'accountId' | 'keyId'>>(
    `${keySelection} WHERE account_id = @accountId AND id = @keyId`,
  ).withRows(toApiKey),
  removeKey: defineStatement<Params<'keyId'>>('DELETE FROM api_keys WHERE id = @keyId'),
  removeOwnerFileKeys: defineStatement<Params<'accountId'>>(
    'DELETE FROM api_keys WHERE account_id = @accountId AND in_owner_file = 1',
  ),
  countOwnerFileKeys: defineStatement<Params<'accountId'>>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = @accountId AND in_owner_file = 1',
  ).withRows(toCount),
  listIssuedBy: defineStatement<Params<'wallet'>>(
    `${keySelection} WHERE issuer_caip10 = @wallet ORDER BY created_at_ms, id`,
  ).withRows(toApiKey),
  countOfSignIn: defineStatement<Params<'accountId' | 'signIn'>>(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = @accountId AND issuer_sign_in = @signIn',
  ).withRows(toCount),
  findRules: defineStatement<Params<'keyId'>>(`SELECT ${rules.selection()} FROM api_keys WHERE id = @keyId`).withRows(
    rules.fromRow,
  ),
  markUsed: defineStatement<Params<'keyId' | 'atMs'>>('UPDATE api_keys SET last_used_at_ms = @atMs WHERE id = @keyId'),
}

/** Accounts and their API keys. */
export const accountRepository = {
  findOwner: (query: Query): Promise<Account | undefined> => query.first(accountStatements.findOwner),
  async hasAccount(query: Query, accountId: string): Promise<boolean> {
    return (await query.first(accountStatements.hasAccount, { accountId })) ?? false
  },
  async addAccount(tx: Transaction, account: Account): Promise<void> {
    await tx.run(accountStatements.addAccount, accounts.params(account))
  },
  async addKey(tx: Transaction, { issuer, ...key }: ApiKeyRecord): Promise<void> {
    const [issuerWallet, issuerSignIn] = [issuer?.wallet ?? null, issuer?.signIn ?? null]
    await tx.run(accountStatements.addKey, apiKeys.params({ ...key, issuerWallet, issuerSignIn }))
  },
  findHolder: (query: Query, hash: Buffer): Promise<KeyHolder | undefined> =>
    query.first(accountStatements.findHolder, { hash }),
  /** Newest first. */
  listKeys: (query: Query, accountId: AccountId): Promise<ApiKeyRecord[]> =>
    query.all(accountStatements.listKeys, { accountId }),
  async countKeys(query: Query, accountId: AccountId): Promise<number> {
    return (await query.first(accountStatements.countKeys, { accountId })) ?? 0
  },
  findRules: (query: Query, keyId: string): Promise<KeyRules | undefined> =>
    query.first(accountStatements.findRules, { keyId }),
  findKey: (query: Query, accountId: AccountId, keyId: string): Promise<ApiKeyRecord | undefined> =>
    query.first(accountStatements.findKey, { accountId, keyId }),
  /** @param wallet key of the wallet */
  listKeysIssuedBy: (query: Query, wallet: string): Promise<ApiKeyRecord[]> =>
    query.all(accountStatements.listIssuedBy, { wallet }),
  async countKeysOfSignIn(query: Query, accountId: AccountId, signIn: string): Promise<number> {
    return (await query.first(accountStatements.countOfSignIn, { accountId, signIn })) ?? 0
  },
  async removeKey(tx: Transaction, keyId: string): Promise<void> {
    await tx.run(accountStatements.removeKey, { keyId })
  },
  async removeOwnerFileKeys(tx: Transaction, accountId: AccountId): Promise<void> {
    await tx.run(accountStatements.removeOwnerFileKeys, { accountId })
  },
  async hasOwnerFileKey(query: Query, accountId: AccountId): Promise<boolean> {
    return ((await query.first(accountStatements.countOwnerFileKeys, { accountId })) ?? 0) > 0
  },
  async markUsed(tx: Transaction, keyId: string, atMs: number): Promise<void> {
    await tx.run(accountStatements.markUsed, { keyId, atMs })
  },
}
export type AccountRepository = typeof accountRepository

function toApiKey(row: StoredRow): ApiKeyRecord {
  const { issuerWallet: wallet, issuerSignIn: signIn, ...key } = apiKeys.fromRow(row)
  return { ...key, issuer: wallet !== null && signIn !== null ? { wallet, signIn } : null }
}

function toCount(row: StoredRow): number {
  return Number(row.count)
}
