import type { z } from 'zod'
import { parseJson } from '#platform/boundedJson.ts'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { CachedSource } from '#shared/contract/localDomains.ts'
import type { CacheKind, DomainCacheRepository } from './domainCacheRepository.ts'

/** One question to the service, and what tells its answer from others. */
export type Question<Answer> = {
  kind: CacheKind
  key: string
  schema: z.ZodType<Answer>
  ask(signal: AbortSignal): Promise<Answer>
}
/** Freshness fields that the service reports for its own cache. */
type CacheFields = { source?: 'live' | 'cache' | 'stale'; as_of?: string }
export type Cached<Answer> = Omit<Answer, 'source' | 'as_of'> & { source: CachedSource; as_of: string }

export type DomainCache = {
  /**
   * Returns the cached response immediately and refreshes in the background. @throws AppError of the service if nothing
   * is cached
   */
  getCached<Answer extends object>(question: Question<Answer>): Promise<Cached<Answer>>
  /** Likewise, as the bytes of its JSON: a long list is written once, and not for everybody who asks. */
  getCachedJson<Answer extends object>(question: Question<Answer>): Promise<Uint8Array>
  /** Reads from the service and caches the response. Falls back to the cache only while the service is unavailable. */
  fresh<Answer extends object>(question: Question<Answer>): Promise<Cached<Answer>>
  /** Read now, or not at all. @throws AppError of the service */
  fetchNow<Answer extends object>(question: Question<Answer>): Promise<Answer>
  /** Whose answers are shown. The service is asked once a connection. @throws AppError of the service */
  account(): Promise<string>
  /** Everything may be another by now. */
  outdate(): void
  /** Called after a reconnect, when the service may identify the user as another account. */
  revalidateAll(): void
  close(): Promise<void>
}

type Entry = {
  answer: object
  /** The answer without what `shown` adds, as JSON; made when it is first asked for. */
  json?: Buffer
  readAtMs: number
  /** Generation of the cache when the value was read; values of other generations are stale. */
  round: number
  /** The service did not answer when it was asked last. */
  isOffline: boolean
  triedAtMs: number
}

/** Age after which a value is refreshed in the background, in milliseconds. */
const freshMs = 60_000
/** A service that did not answer is asked again after this. */
const triedAgainMs = 5_000
/** Answers in memory beside SQLite. */
const maxEntries = 200

export function createDomainCache(options: {
  records: DomainCacheRepository
  isConnected: () => boolean
  /** The account by which the service knows the person now. @throws AppError of the service */
  account: (signal: AbortSignal) => Promise<string>
  now: () => number
  log: Log
  onChanged: () => void
}): DomainCache {
  const { records, isConnected, now, log, onChanged } = options
  /** Asked once for each connection. */
  let owner: Promise<string> | undefined
  const entries = new Map<string, Entry>()
  const underWay = new Map<string, Promise<object>>()
  const ending = new AbortController()
  let round = 0

  const findEntry = <Answer extends object>({ kind, key, schema }: Question<Answer>): Entry | undefined => {
    const id = `${kind} ${key}`
    const entry = entries.get(id)
    if (entry) return entry
    const row = records.find(kind, key)
    const answer = row && understood(schema, row.answer)
    if (!row || !answer) return undefined
    return remember(id, { answer, readAtMs: row.readAtMs, round: -1, isOffline: false, triedAtMs: 0 })
  }
  const remember = (id: string, entry: Entry): Entry => {
    entries.delete(id)
    entries.set(id, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    return entry
  }
  const getOwner = (): Promise<string> => {
    owner ??= fetchOwner().catch((error) => {
      owner = undefined
      throw error
    })
    return owner
  }
  const fetchOwner = async (): Promise<string> => {
    const accountId = await options.account(ending.signal)
    if (accountId !== records.owner()) {
      records.setOwner(accountId)
      entries.clear()
      onChanged()
    }
    return accountId
  }
  const read = async <Answer extends object>(question: Question<Answer>): Promise<Answer> => {
    const { kind, key } = question
    const id = `${kind} ${key}`
    const begunIn = round
    try {
      const of = getOwner()
      await of
      const answer = await question.ask(ending.signal)
      // The signed-in account changed during the request, so the response is returned but not cached.
      if (of !== owner) return answer
      const readAtMs = now()
      ending.signal.throwIfAborted() // the database may be closed by now
      records.keep(kind, key, { answer: JSON.stringify(answer), readAtMs })
      remember(id, { answer, readAtMs, round: begunIn, isOffline: false, triedAtMs: readAtMs })
      return answer
    } catch (error) {
      if (!ending.signal.aborted && isNotFound(error)) {
        entries.delete(id)
        records.remove(kind, key)
      }
      const entry = entries.get(id)
      if (entry) entries.set(id, { ...entry, isOffline: isAway(error), triedAtMs: now() })
      throw error
    }
  }
  const readOnce = <Answer extends object>(question: Question<Answer>): Promise<Answer> => {
    const id = `${question.kind} ${question.key}`
    const running = underWay.get(id)
    if (running) return running as Promise<Answer> // of the same kind and key, so of the same schema
    const begun = read(question).finally(() => underWay.delete(id))
    underWay.set(id, begun)
    return begun
  }
  const revalidate = <Answer extends object>(question: Question<Answer>, before: Entry): void => {
    if (underWay.has(`${question.kind} ${question.key}`)) return
    readOnce(question).then(onChanged, (error) => {
      if (ending.signal.aborted) return
      log.info('domains could not be read', { kind: question.kind, error })
      if (isNotFound(error) || isAway(error) !== before.isOffline) onChanged()
    })
  }
  const toAnswer = <Answer extends object>({ answer, readAtMs, isOffline }: Entry): Cached<Answer> => {
    const { source = 'live', as_of: asOf = new Date(readAtMs).toISOString() } = answer as CacheFields
    const isAbsent = isOffline || !isConnected()
    const now = isAbsent ? 'offline' : source === 'stale' ? 'stale' : 'cache'
    // The entry was made from this question's own answer.
    return { ...(answer as Answer), source: now, as_of: asOf }
  }

  const getEntry = async <Answer extends object>(question: Question<Answer>): Promise<Entry | undefined> => {
    const entry = findEntry(question)
    if (!entry) return undefined
    const isOld = entry.round !== round || now() - entry.readAtMs > freshMs
    if (isOld && isConnected() && (!entry.isOffline || now() - entry.triedAtMs > triedAgainMs)) {
      revalidate(question, entry)
    }
    return entry
  }

  return {
    async getCached<Answer extends object>(question: Question<Answer>): Promise<Cached<Answer>> {
      const entry = await getEntry(question)
      return entry ? toAnswer<Answer>(entry) : withAge(await readOnce(question), now())
    },
    async getCachedJson<Answer extends object>(question: Question<Answer>): Promise<Uint8Array> {
      const entry = await getEntry(question)
      if (!entry) return Buffer.from(JSON.stringify(withAge(await readOnce(question), now())))
      const { source, as_of } = toAnswer<Answer>(entry)
      entry.json ??= withoutSource(entry.answer)
      return withSource(entry.json, { source, as_of })
    },
    async fresh<Answer extends object>(question: Question<Answer>): Promise<Cached<Answer>> {
      try {
        return withAge(await read(question), now())
      } catch (error) {
        const entry = findEntry(question)
        if (!entry || !isAway(error)) throw error
        return { ...toAnswer<Answer>(entry), source: 'offline' }
      }
    },
    // Not shared with a reading that began earlier: that one may have missed the last change.
    fetchNow: (question) => read(question),
    account: getOwner,
    outdate() {
      round += 1
      for (const [id, entry] of entries) entries.set(id, { ...entry, isOffline: false })
    },
    revalidateAll() {
      owner = undefined
    },
    async close() {
      ending.abort()
      await Promise.allSettled(underWay.values())
    },
  }
}

function withAge<Answer extends object>(answer: Answer, nowMs: number): Cached<Answer> {
  const { source = 'live', as_of: asOf = new Date(nowMs).toISOString() } = answer as CacheFields
  return { ...answer, source, as_of: asOf }
}

/** As JSON, open at its end. */
function withoutSource(answer: object): Buffer {
  const { source: _, as_of: __, ...rest } = answer as CacheFields
  return Buffer.from(JSON.stringify(rest).slice(0, -1))
}

function withSource(json: Buffer, source: { source: CachedSource; as_of: string }): Buffer {
  const comma = json.length === 1 ? '' : ','
  return Buffer.concat([json, Buffer.from(comma + JSON.stringify(source).slice(1))])
}

/** Damaged rows are ignored. */
function understood<Answer>(schema: z.ZodType<Answer>, text: string): Answer | undefined {
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
