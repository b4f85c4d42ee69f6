import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { AccountRepository, ApiKeyRecord } from './accountRepository.ts'

export type ApiKeys = {
  /** Creates a key. Only its hash is stored. @throws AppError `key/too-many` */
  create(accountId: AccountId, name: string, options?: CreateOptions): ApiKeyRecord & { key: string }
  list(accountId: AccountId): ApiKeyRecord[]
  /** @throws AppError `key/not-found`, or `auth/forbidden` for the key in the owner's file */
  revoke(accountId: AccountId, keyId: string): ApiKeyRecord
  /** Deletes the keys that sign-ins of a wallet created. @param wallet key of the wallet */
  revokeIssuedBy(wallet: string): ApiKeyRecord[]
  /** @returns undefined for a revoked key */
  getRules(keyId: string): (ApiKeyRules & { accountId: AccountId }) | undefined
  /** Identifies the caller that a key belongs to. @returns undefined for an unknown key */
  identify(key: string): Caller | undefined
}

/** Allowed models and daily limit of a key. Null allows all models or means no limit. */
export type ApiKeyRules = Pick<ApiKeyRecord, 'models' | 'dailyLimit'>

type CreateOptions = Partial<ApiKeyRules> & Partial<Pick<ApiKeyRecord, 'issuer'>>

const unlimited: ApiKeyRules = { models: null, dailyLimit: null }

export const keyTokens = createSecretTokens('sk_steward')
const visibleCharacters = 'sk_steward_'.length + 6
/** More than the programs of one user need, and few enough to review. */
const maxKeys = 200
const usedEveryMs = 60_000

export function createApiKeys(options: {
  accounts: AccountRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): ApiKeys {
  const { accounts, now, randomBytes } = options
  /** Cached because keys are immutable and each call looks one up twice. */
  const holders = cacheLookups((hash: string) => accounts.findHolder(Buffer.from(hash, 'latin1')))
  const rules = cacheLookups(accounts.findRules)
  const forget = (): void => {
    holders.forget()
    rules.forget()
  }
  return {
    create(accountId, name, { issuer = null, ...rules } = {}) {
      if (accounts.listKeys(accountId).length >= maxKeys) {
        throw new AppError('key/too-many', `This account has ${maxKeys} API keys, which is the maximum.`)
      }
      const key = keyTokens.create(randomBytes)
      const created = { accountId, name, key, inOwnerFile: false, nowMs: now(), randomBytes }
      const record = { ...createKeyRecord({ ...created, rules: { ...unlimited, ...rules } }), issuer }
      accounts.addKey(record)
      return { ...record, key }
    },
    getRules: rules.find,
    list: (accountId) => accounts.listKeys(accountId),
    revoke(accountId, keyId) {
      const record = accounts.findKey(accountId, keyId)
      if (!record) throw new AppError('key/not-found', `There is no API key \`${keyId}\`.`)
      if (record.inOwnerFile) {
        throw new AppError(
          'auth/forbidden',
          'The key in the owner file cannot be revoked here. Delete the file and restart the service.',
        )
      }
      accounts.removeKey(keyId)
      forget()
      return record
    },
    revokeIssuedBy(wallet) {
      const records = accounts.listKeysIssuedBy(wallet)
      for (const { id } of records) accounts.removeKey(id)
      forget()
      return records
    },
    identify(key) {
      const holder = keyTokens.holder(key, (hash) => holders.find(hash.toString('latin1')))
      if (!holder) return undefined
      const nowMs = now()
      // A precision of one minute suffices and avoids a write on every call.
      if (nowMs - (holder.lastUsedAtMs ?? Number.NEGATIVE_INFINITY) >= usedEveryMs) {
        accounts.markUsed(holder.keyId, nowMs)
        holder.lastUsedAtMs = nowMs
      }
      const { accountId, owner, keyId, name, inOwnerFile } = holder
      return {
        accountId,
        principal: `key:${keyId}`,
        owner,
        managesAccount: inOwnerFile,
        onlySandbox: undefined,
        keyId,
        ...(!inOwnerFile && { actingKey: { id: keyId, name } }),
        wallet: undefined,
      }
    },
  }
}

export function createKeyRecord(fields: {
  accountId: AccountId
  name: string
  key: string
  inOwnerFile: boolean
  nowMs: number
  randomBytes: (count: number) => Buffer
  rules?: ApiKeyRules
}): ApiKeyRecord {
  const { accountId, name, key, inOwnerFile, nowMs, randomBytes, rules = unlimited } = fields
  return {
    id: `key_${randomBytes(12).toString('hex')}`,
    accountId,
    name,
    hash: hashSecret(key),
    prefix: key.slice(0, visibleCharacters),
    inOwnerFile,
    createdAtMs: nowMs,
    lastUsedAtMs: null,
    issuer: null,
    ...rules,
  }
}

/** Caches found records. Missing records are looked up again. */
function cacheLookups<T>(find: (name: string) => T | undefined): { find: typeof find; forget(): void } {
  const cache = new Map<string, T>()
  return {
    find(name) {
      const record = cache.get(name) ?? find(name)
      if (record !== undefined && cache.size < maxLookedUp) cache.set(name, record)
      return record
    },
    forget: () => cache.clear(),
  }
}
const maxLookedUp = 10_000
