import type { Database } from '../../storage/openDatabase.ts'

export type CacheKind = 'list' | 'domain' | 'zone' | 'pricing' | 'search'
export type CachedAnswer = { answer: string; readAtMs: number }

export type DomainCacheRepository = {
  /** Whose answers are found and kept: the account that was read for last, until another one is named. */
  owner(): string | undefined
  /** That account at this service, as rows name it. */
  place(): string
  setOwner(accountId: string): void
  find(kind: CacheKind, key: string): CachedAnswer | undefined
  keep(kind: CacheKind, key: string, cached: CachedAnswer): void
  remove(kind: CacheKind, key: string): void
}

/** Searches that are kept. */
const mostSearches = 200

/** @param service whose answers these are: another service has its own */
export function domainCacheRepository(database: Database, service: string): DomainCacheRepository {
  const find = database.prepare<[string, string, string], CachedAnswer>(
    'SELECT answer, read_at_ms AS readAtMs FROM domain_cache WHERE service = ? AND kind = ? AND key = ?',
  )
  const keep = database.prepare<[string, string, string, string, number]>(
    'INSERT OR REPLACE INTO domain_cache (service, kind, key, answer, read_at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = database.prepare<[string, string, string]>(
    'DELETE FROM domain_cache WHERE service = ? AND kind = ? AND key = ?',
  )
  const forget = database.prepare<[string, string, number]>(
    `DELETE FROM domain_cache WHERE service = ? AND kind = 'search' AND key NOT IN
      (SELECT key FROM domain_cache WHERE service = ? AND kind = 'search' ORDER BY read_at_ms DESC LIMIT ?)`,
  )
  const newest = database.prepare<[number, string], { place: string }>(
    `SELECT service AS place FROM domain_cache WHERE substr(service, 1, ?) = ? ORDER BY read_at_ms DESC LIMIT 1`,
  )
  const prefix = `${service} `
  let owner = newest.get(prefix.length, prefix)?.place.slice(prefix.length)
  /** An address has no spaces, so that no service is taken for another one's account. */
  const place = (): string => `${prefix}${owner ?? ''}`

  return {
    owner: () => owner,
    place,
    setOwner(accountId) {
      owner = accountId
    },
    find: (kind, key) => find.get(place(), kind, key),
    keep(kind, key, { answer, readAtMs }) {
      keep.run(place(), kind, key, answer, readAtMs)
      if (kind === 'search') forget.run(place(), place(), mostSearches)
    },
    remove: (kind, key) => void remove.run(place(), kind, key),
  }
}
