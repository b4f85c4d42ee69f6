import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

export type CacheKind = 'list' | 'domain' | 'zone' | 'pricing' | 'search'

const answers = defineTable('domain_cache', {
  /** URL of the service and account, as returned by `DomainCacheRepository.getOwner`. */
  service: text(),
  kind: text<CacheKind>(),
  key: text(),
  answer: text(),
  readAtMs: number(),
})
type AnswerRow = RowOf<typeof answers>
type AnswerKey = Params<'service' | 'kind' | 'key'>
export type CachedAnswer = Pick<AnswerRow, 'answer' | 'readAtMs'>

export type DomainCacheRepository = {
  /** Returns the account of the cached responses: the last one set with `setOwner`. */
  owner(): string | undefined
  /** Returns the key of the service and account that is stored in rows. */
  getOwner(): string
  setOwner(accountId: string): void
  find(kind: CacheKind, key: string): CachedAnswer | undefined
  keep(kind: CacheKind, key: string, cached: CachedAnswer): void
  remove(kind: CacheKind, key: string): void
}

const maxSearches = 200

/** @param service URL of the service; responses are cached per service */
export function createDomainCacheRepository(database: Database, service: string): DomainCacheRepository {
  const find = database.prepare<[AnswerKey], StoredRow>(
    `SELECT ${answers.selection()} FROM domain_cache WHERE service = @service AND kind = @kind AND key = @key`,
  )
  const keep = database.prepare<[Params<keyof AnswerRow>]>(answers.upsert(['service', 'kind', 'key']))
  const remove = database.prepare<[AnswerKey]>(
    'DELETE FROM domain_cache WHERE service = @service AND kind = @kind AND key = @key',
  )
  const removeOldSearches = database.prepare<[Params<'service' | 'limit'>]>(
    `DELETE FROM domain_cache WHERE service = @service AND kind = 'search' AND key NOT IN
      (SELECT key FROM domain_cache WHERE service = @service AND kind = 'search' ORDER BY read_at_ms DESC LIMIT @limit)`,
  )
  const newest = database.prepare<[Params<'length' | 'prefix'>], { service: string }>(
    `SELECT service FROM domain_cache WHERE substr(service, 1, @length) = @prefix
      ORDER BY read_at_ms DESC LIMIT 1`,
  )
  const prefix = `${service} `
  let owner = newest.get({ length: prefix.length, prefix })?.service.slice(prefix.length)
  /** A URL has no spaces, so the separator is unambiguous. */
  const getOwner = (): string => `${prefix}${owner ?? ''}`

  return {
    owner: () => owner,
    getOwner,
    setOwner(accountId) {
      owner = accountId
    },
    find(kind, key) {
      const row = find.get({ service: getOwner(), kind, key })
      if (!row) return undefined
      const { answer, readAtMs } = answers.fromRow(row)
      return { answer, readAtMs }
    },
    keep(kind, key, { answer, readAtMs }) {
      keep.run(answers.params({ service: getOwner(), kind, key, answer, readAtMs }))
      if (kind === 'search') removeOldSearches.run({ service: getOwner(), limit: maxSearches })
    },
    remove: (kind, key) => void remove.run({ service: getOwner(), kind, key }),
  }
}
