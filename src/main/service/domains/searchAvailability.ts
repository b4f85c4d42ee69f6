import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import type { Availability, Registrar } from './registrars/registrar.ts'

const ttlMs = 5 * 60_000
const maxEntries = 5_000
/** Maximum names in one call to a registrar. */
const batchSize = 100
/** Rate of calls for searches. The rest of the registrar's rate limit is reserved for quotes and orders. */
const searchPace = { burst: 20, perSecond: 0.25 } as const

/**
 * Serves searches from a registrar with a rate limit: one call at a time, at the rate of searches, and no call for a
 * name that was looked up minutes ago. Quotes and orders call the registrar directly.
 */
export function createSearchAvailability({
  registrar,
  now,
}: {
  registrar: Pick<Registrar, 'check'>
  now: () => number
}): Pick<Registrar, 'check'> {
  const cache = new Map<string, { availability: Availability; atMs: number }>()
  const pace = createTokenBuckets({ ...searchPace, now })
  let last: Promise<unknown> = Promise.resolve()

  const findCached = (name: string): Availability | undefined => {
    const entry = cache.get(name)
    return entry && now() - entry.atMs < ttlMs ? entry.availability : undefined
  }
  const keep = (availability: Availability): void => {
    if (availability.status === 'unknown') return
    const [oldest] = cache.keys()
    if (cache.size >= maxEntries && oldest !== undefined) cache.delete(oldest)
    cache.delete(availability.name)
    cache.set(availability.name, { availability, atMs: now() })
  }
  /** @throws AppError `request/rate`, or an error of the registrar */
  const lookUp = async (names: readonly string[]): Promise<readonly Availability[]> => {
    const answers = new Map<string, Availability>()
    const open = [...new Set(names)].filter((name) => {
      const cached = findCached(name)
      if (cached) answers.set(name, cached)
      return !cached
    })
    for (let offset = 0; offset < open.length; offset += batchSize) {
      const waitSeconds = pace.take('searches')
      if (waitSeconds > 0) {
        throw new AppError('request/rate', 'Too many name searches are running.', { retryAfterSeconds: waitSeconds })
      }
      for (const result of await registrar.check(open.slice(offset, offset + batchSize))) {
        keep(result)
        answers.set(result.name, result)
      }
    }
    return names.map((name) => answers.get(name) ?? { name, status: 'unknown', premium: false, price: null })
  }

  return {
    check(names) {
      if (names.every((name) => findCached(name))) return lookUp(names)
      const turn = last.then(() => lookUp(names))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}
