import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Store, Transaction } from '#storage/store.ts'
import type { Caller } from '../base/endpoint.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import { type ApiKeyRecord, accountRepository, type KeyRules } from './accountRepository.ts'

export type ApiKeys = {
  /** Creates a key. Only its hash is stored. @throws AppError `key/too-many`, errors of `assertAllowed` */
  create(accountId: AccountId, name: string, options?: CreateOptions): Promise<ApiKeyRecord & { key: string }>
  list(accountId: AccountId): Promise<ApiKeyRecord[]>
  /** @throws AppError `key/not-found`, or `auth/forbidden` for the key in the owner's file */
  revoke(accountId: AccountId, keyId: string): Promise<ApiKeyRecord>
  /**
   * Deletes the keys that sign-ins of a wallet created. Call `forget` after the transaction.
   * @param wallet key of the wallet
   */
  revokeIssuedBy(tx: Transaction, wallet: string): Promise<ApiKeyRecord[]>
  /** Drops cached records. Call it after a transaction that deletes keys. */
  forget(): void
  /**
   * Returns the rules of a key.
   * @param tx reads them in a transaction. Default: committed rules, which are cached
   * @returns undefined for a revoked key
   */
  getRules(keyId: string, tx?: Transaction): Promise<KeyRules | undefined>
  /** Identifies the caller that a key belongs to. @returns undefined for an unknown key */
  identify(key: string): Promise<Caller | undefined>
}

/** Allowed models and daily limit of a key. Null allows all models or means no limit. */
export type ApiKeyRules = Pick<ApiKeyRecord, 'models' | 'dailyLimit'>

type CreateOptions = Partial<ApiKeyRules> &
  Partial<Pick<ApiKeyRecord, 'issuer'>> & {
    /** Throws if the requester may not create the key any more. Runs in the transaction that adds it. */
    assertAllowed?: (tx: Transaction) => Promise<void>
  }

const unlimited: ApiKeyRules = { models: null, dailyLimit: null }

export const keyTokens = createSecretTokens('sk_steward')
const visibleCharacters = 'sk_steward_'.length + 6
/** More than the programs of one user need, and few enough to review. */
const maxKeys = 200
const usedEveryMs = 60_000

export function createApiKeys(options: {
  store: Store
  now: () => number
  randomBytes: (count: number) => Buffer
}): ApiKeys {
  const { store, now, randomBytes } = options
  /** Cached because keys are immutable and each call looks one up twice. */
  const holders = cacheLookups((hash) => accountRepository.findHolder(store.read, Buffer.from(hash, 'latin1')))
  const rules = cacheLookups((keyId) => accountRepository.findRules(store.read, keyId))
  const forget = (): void => {
    holders.forget()
    rules.forget()
  }
  return {
    async create(accountId, name, { issuer = null, assertAllowed, ...rules } = {}) {
      const key = keyTokens.create(randomBytes)
      const created = { accountId, name, key, inOwnerFile: false, nowMs: now(), randomBytes }
      const record = { ...createKeyRecord({ ...created, rules: { ...unlimited, ...rules } }), issuer }
      await store.write(async (tx) => {
        await assertAllowed?.(tx)
        if ((await accountRepository.countKeys(tx, accountId)) >= maxKeys) {
          throw new AppError('key/too-many', `This account has ${maxKeys} API keys, which is the maximum.`)
        }
        await accountRepository.addKey(tx, record)
      })
      return { ...record, key }
    },
    getRules: async (keyId, tx) => (tx ? accountRepository.findRules(tx, keyId) : rules.find(keyId)),
    list: (accountId) => accountRepository.listKeys(store.read, accountId),
    async revoke(accountId, keyId) {
      try {
        return await store.write(async (tx) => {
          const record = await accountRepository.findKey(tx, accountId, keyId)
          if (!record) throw new AppError('key/not-found', `There is no API key \`${keyId}\`.`)
          if (record.inOwnerFile) {
            throw new AppError(
              'auth/forbidden',
              'The key in the owner file cannot be revoked here. Delete the file and restart the service.',
            )
          }
          await accountRepository.removeKey(tx, keyId)
          return record
        })
      } finally {
        forget() // also after an unknown outcome
      }
    },
    async revokeIssuedBy(tx, wallet) {
      const records = await accountRepository.listKeysIssuedBy(tx, wallet)
      for (const { id } of records) await accountRepository.removeKey(tx, id)
      return records
    },
    forget,
    async identify(key) {
      const holder = await keyTokens.findHolder(key, (hash) => holders.find(hash.toString('latin1')))
      if (!holder) return undefined
      const nowMs = now()
      // A precision of one minute suffices and avoids a write on every call.
      if (nowMs - (holder.lastUsedAtMs ?? Number.NEGATIVE_INFINITY) >= usedEveryMs) {
        holder.lastUsedAtMs = nowMs // before the write, so that concurrent calls do not repeat it
        await store.write((tx) => accountRepository.markUsed(tx, holder.keyId, nowMs))
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

/**
 * Caches found records. Missing records are looked up again. A record that was looked up before `forget` is not cached
 * after it, since it may be gone.
 */
function cacheLookups<T>(find: (name: string) => Promise<T | undefined>): { find: typeof find; forget(): void } {
  let cache = new Map<string, T>()
  return {
    async find(name) {
      const cached = cache.get(name)
      if (cached !== undefined) return cached
      const current = cache
      const record = await find(name)
      const earlier = current.get(name) // of a concurrent lookup
      if (earlier !== undefined) return earlier
      if (record !== undefined && current.size < maxLookedUp) current.set(name, record)
      return record
    },
    forget() {
      cache = new Map()
    },
  }
}
const maxLookedUp = 10_000
