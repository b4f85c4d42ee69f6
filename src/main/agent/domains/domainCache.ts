import type { z } from 'zod'
import type { Log } from '#platform/logging/log.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import type { CachedSource } from '#shared/contract/localDomains.ts'
import type { CacheKind, DomainCacheRepository } from './domainCacheRepository.ts'

/** Request to the service, with its cache key and response schema. */
export type ServiceQuery<Answer> = {
  kind: CacheKind
  key: string
  schema: z.ZodType<Answer>
  fetch(signal: AbortSignal): Promise<Answer>
}
/** Freshness fields that the service reports for its own cache. */
type CacheFields = { source?: 'live' | 'cache' | 'stale'; as_of?: string }
export type Cached<Answer> = Omit<Answer, 'source' | 'as_of'> & { source: CachedSource; as_of: string }

export type DomainCache = {
  /**
   * Returns the cached response immediately and refreshes it in the background.
   * @throws AppError from the service if nothing is cached
   */
  getCached<Answer extends object>(question: ServiceQuery<Answer>): Promise<Cached<Answer>>
  /** Same as `getCached`, but returns JSON bytes, so that a long list is serialized once for all callers. */
  getCachedJson<Answer extends object>(question: ServiceQuery<Answer>): Promise<Uint8Array>
  /** Fetches from the service and caches the response. Falls back to the cache only if the service is unavailable. */
  fresh<Answer extends object>(question: ServiceQuery<Answer>): Promise<Cached<Answer>>
  /** Fetches from the service and never falls back to the cache. @throws AppError from the service */
  fetchNow<Answer extends object>(question: ServiceQuery<Answer>): Promise<Answer>
  /**
   * Returns the account of the cached responses. The service is queried once per connection.
   * @throws AppError from the service
   */
  account(): Promise<string>
  /** Marks all entries as stale. */
  outdate(): void
  /** Called after a reconnect, when the service may identify the user as another account. */
  revalidateAll(): void
  close(): Promise<void>
}

type CacheEntry = {
  answer: object
  /** Response as JSON without its freshness fields, serialized on first use. */
  json?: Buffer
  readAtMs: number
  /** Cache generation when the value was read. Values of other generations are stale. */
  generation: number
  /** Whether the last request to the service failed because it was unavailable. */
  isOffline: boolean
  triedAtMs: number
}

/** Age after which a value is refreshed in the background. */
const maxAgeMs = 60_000
/** Delay before a request to an unavailable service is retried. */
const retryDelayMs = 5_000
/** Maximum number of entries in memory. More are stored in SQLite. */
const maxEntries = 200

type CacheOptions = {
  records: DomainCacheRepository
  isConnected: () => boolean
  /** Returns the account as which the service currently identifies the user. @throws AppError from the service */
  account: (signal: AbortSignal) => Promise<string>
  now: () => number
  log: Log
  onChanged: () => void
}

export function createDomainCache(options: CacheOptions): DomainCache {
  const { isConnected, now } = options
  const ending = new AbortController()
  const entries = createCacheEntries(options.records)
  const owner = createCacheOwner(options, { onChanged: entries.clear, signal: ending.signal })
  const reads = createCacheReads(options, { entries, owner, signal: ending.signal })

  const getEntry = <Answer extends object>(question: ServiceQuery<Answer>): CacheEntry | undefined => {
    const entry = entries.find(question)
    if (!entry) return undefined
    const isOld = entry.generation !== entries.generation() || now() - entry.readAtMs > maxAgeMs
    if (isOld && isConnected() && (!entry.isOffline || now() - entry.triedAtMs > retryDelayMs)) {
      reads.revalidate(question, entry)
    }
    return entry
  }
  const toAnswer = <Answer extends object>(entry: CacheEntry) => toCached<Answer>(entry, isConnected())

  return {
    async getCached<Answer extends object>(question: ServiceQuery<Answer>): Promise<Cached<Answer>> {
      const entry = getEntry(question)
      return entry ? toAnswer<Answer>(entry) : withAge(await reads.readOnce(question), now())
    },
    async getCachedJson<Answer extends object>(question: ServiceQuery<Answer>): Promise<Uint8Array> {
      const entry = getEntry(question)
      if (!entry) return Buffer.from(JSON.stringify(withAge(await reads.readOnce(question), now())))
      const { source, as_of } = toAnswer<Answer>(entry)
      entry.json ??= serializeResponse(entry.answer)
      return withSource(entry.json, { source, as_of })
    },
    async fresh<Answer extends object>(question: ServiceQuery<Answer>): Promise<Cached<Answer>> {
      try {
        return withAge(await reads.read(question), now())
      } catch (error) {
        const entry = entries.find(question)
        if (!entry || !isAway(error)) throw error
        return { ...toAnswer<Answer>(entry), source: 'offline' }
      }
    },
    // Does not join an earlier read, because that read may have missed the latest change.
    fetchNow: (question) => reads.read(question),
    account: owner.get,
    outdate: entries.outdate,
    revalidateAll: owner.reset,
    async close() {
      ending.abort()
      await reads.waitUntilIdle()
    },
  }
}

type CacheEntries = {
  /** Finds an entry in memory, or else in SQLite. */
  find<Answer extends object>(question: ServiceQuery<Answer>): CacheEntry | undefined
  /** Stores a response in memory and SQLite. @param read.generation cache generation when the request started */
  store(question: CacheKey, answer: object, read: { readAtMs: number; generation: number }): void
  /** Records that a request failed. Entries that are not in memory are not changed. */
  recordFailure(question: CacheKey, failure: { isOffline: boolean; triedAtMs: number }): void
  remove(question: CacheKey): void
  clear(): void
  generation(): number
  /** Starts a new generation, which marks all entries as stale. */
  outdate(): void
}
type CacheKey = { kind: CacheKind; key: string }
const toEntryId = ({ kind, key }: CacheKey): string => `${kind} ${key}`

function createCacheEntries(records: DomainCacheRepository): CacheEntries {
  const entries = new Map<string, CacheEntry>()
  let generation = 0

  const remember = (id: string, entry: CacheEntry): CacheEntry => {
    entries.delete(id)
    entries.set(id, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    return entry
  }
  return {
    find(question) {
      const id = toEntryId(question)
      const entry = entries.get(id)
      if (entry) return entry
      const row = records.find(question.kind, question.key)
      const answer = row && parseCachedResponse(question.schema, row.answer)
      if (!row || !answer) return undefined
      return remember(id, { answer, readAtMs: row.readAtMs, generation: -1, isOffline: false, triedAtMs: 0 })
    },
    store(question, answer, { readAtMs, generation }) {
      records.keep(question.kind, question.key, { answer: JSON.stringify(answer), readAtMs })
      remember(toEntryId(question), { answer, readAtMs, generation, isOffline: false, triedAtMs: readAtMs })
    },
    recordFailure(question, failure) {
      const id = toEntryId(question)
      const entry = entries.get(id)
      if (entry) entries.set(id, { ...entry, ...failure })
    },
    remove(question) {
      entries.delete(toEntryId(question))
      records.remove(question.kind, question.key)
    },
    clear: () => entries.clear(),
    generation: () => generation,
    outdate() {
      generation += 1
      for (const [id, entry] of entries) entries.set(id, { ...entry, isOffline: false })
    },
  }
}

type CacheOwner = {
  /** Returns the account of the responses, queried once per connection. */
  get(): Promise<string>
  /** Whether `get` returned `owner` since the last connection. */
  isCurrent(owner: Promise<string>): boolean
  reset(): void
}

function createCacheOwner(
  { records, account, onChanged }: CacheOptions,
  context: { onChanged: () => void; signal: AbortSignal },
): CacheOwner {
  let owner: Promise<string> | undefined

  const fetchOwner = async (): Promise<string> => {
    const accountId = await account(context.signal)
    if (accountId !== records.owner()) {
      records.setOwner(accountId)
      context.onChanged()
      onChanged()
    }
    return accountId
  }
  return {
    get() {
      owner ??= fetchOwner().catch((error) => {
        owner = undefined
        throw error
      })
      return owner
    },
    isCurrent: (other) => other === owner,
    reset() {
      owner = undefined
    },
  }
}

function createCacheReads(
  { now, log, onChanged }: CacheOptions,
  { entries, owner, signal }: { entries: CacheEntries; owner: CacheOwner; signal: AbortSignal },
) {
  const underWay = new Map<string, Promise<object>>()

  const read = async <Answer extends object>(question: ServiceQuery<Answer>): Promise<Answer> => {
    const generation = entries.generation()
    try {
      const account = owner.get()
      await account
      const answer = await question.fetch(signal)
      // The account changed during the request, so the response is not cached.
      if (!owner.isCurrent(account)) return answer
      const readAtMs = now()
      signal.throwIfAborted() // the database may be closed
      entries.store(question, answer, { readAtMs, generation })
      return answer
    } catch (error) {
      if (!signal.aborted && isNotFound(error)) entries.remove(question)
      entries.recordFailure(question, { isOffline: isAway(error), triedAtMs: now() })
      throw error
    }
  }
  const readOnce = <Answer extends object>(question: ServiceQuery<Answer>): Promise<Answer> => {
    const id = toEntryId(question)
    const running = underWay.get(id)
    if (running) return running as Promise<Answer> // same kind and key, so the same schema
    const begun = read(question).finally(() => underWay.delete(id))
    underWay.set(id, begun)
    return begun
  }
  return {
    read,
    readOnce,
    revalidate<Answer extends object>(question: ServiceQuery<Answer>, before: CacheEntry): void {
      if (underWay.has(toEntryId(question))) return
      readOnce(question).then(onChanged, (error) => {
        if (signal.aborted) return
        log.info('failed to read domains', { kind: question.kind, error })
        if (isNotFound(error) || isAway(error) !== before.isOffline) onChanged()
      })
    },
    async waitUntilIdle(): Promise<void> {
      await Promise.allSettled(underWay.values())
    },
  }
}

function toCached<Answer extends object>(
  { answer, readAtMs, isOffline }: CacheEntry,
  isConnected: boolean,
): Cached<Answer> {
  const { source = 'live', as_of: asOf = new Date(readAtMs).toISOString() } = answer as CacheFields
  const isAbsent = isOffline || !isConnected
  const cachedSource = isAbsent ? 'offline' : source === 'stale' ? 'stale' : 'cache'
  // The cache key identifies the query, so the type is the same.
  return { ...(answer as Answer), source: cachedSource, as_of: asOf }
}

function withAge<Answer extends object>(answer: Answer, nowMs: number): Cached<Answer> {
  const { source = 'live', as_of: asOf = new Date(nowMs).toISOString() } = answer as CacheFields
  return { ...answer, source, as_of: asOf }
}

/** Serializes to JSON without the closing brace, so that `withSource` can append fields. */
function serializeResponse(answer: object): Buffer {
  const { source: _, as_of: __, ...rest } = answer as CacheFields
  return Buffer.from(JSON.stringify(rest).slice(0, -1))
}

function withSource(json: Buffer, source: { source: CachedSource; as_of: string }): Buffer {
  const comma = json.length === 1 ? '' : ','
  return Buffer.concat([json, Buffer.from(comma + JSON.stringify(source).slice(1))])
}

/** Returns undefined for corrupt rows. */
function parseCachedResponse<Answer>(schema: z.ZodType<Answer>, text: string): Answer | undefined {
  try {
    return schema.parse(parseJson(text))
  } catch {
    return undefined
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === 'domain/not-found'
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && error.status >= 500
}
