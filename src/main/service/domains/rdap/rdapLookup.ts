import { z } from 'zod'
import type { HttpClient } from '#platform/http/httpClient.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { Availability } from '../registrars/registrar.ts'
import type { RdapBootstrap } from './rdapBootstrap.ts'

export type RdapLookup = {
  /**
   * Returns results in the order of the names. Only the registry's own "not found" response means `available`. Prices
   * are not included.
   */
  check(names: readonly string[]): Promise<readonly Availability[]>
}

const withinMs = 10_000
const cacheTtlMs = 5 * 60_000
const maxCached = 5_000
const atOnce = 8

const DomainResponse = z.object({ objectClassName: z.literal('domain'), ldhName: z.string() })
const NotFoundResponse = z.object({ errorCode: z.literal(404).optional() })

/**
 * Looks up public registrations at the RDAP server that IANA lists for each name. Redirects are not followed: a 404 of
 * another server does not mean that a name is available.
 */
export function createRdapLookup(options: {
  bootstrap: RdapBootstrap
  http: HttpClient
  now: () => number
}): RdapLookup {
  const { bootstrap, http, now } = options
  const cache = new Map<string, { status: Availability['status']; atMs: number }>()

  const query = async (name: string): Promise<Availability['status']> => {
    const server = bootstrap(name)
    if (server === undefined) return 'unknown'
    try {
      const { status, text } = await http.ask(`${server}domain/${encodeURIComponent(name)}`, {
        method: 'GET',
        headers: { accept: 'application/rdap+json, application/json' },
        signal: AbortSignal.timeout(withinMs),
      })
      return parseStatus(name, status, text)
    } catch {
      return 'unknown'
    }
  }
  const getStatus = async (name: string): Promise<Availability['status']> => {
    const before = cache.get(name)
    if (before && now() - before.atMs < cacheTtlMs) return before.status
    const status = await query(name)
    if (status === 'unknown') return status
    const [oldest] = cache.keys()
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest)
    cache.set(name, { status, atMs: now() })
    return status
  }

  return {
    async check(names) {
      const results: Availability[] = names.map((name) => ({ name, status: 'unknown', premium: false, price: null }))
      const waiting = results.values()
      const work = async (): Promise<void> => {
        for (const result of waiting) result.status = await getStatus(result.name)
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return results
    },
  }
}

function parseStatus(name: string, status: number, text: string): Availability['status'] {
  const json = parseJsonOrUndefined(text)
  if (status === 200) {
    const { data } = DomainResponse.safeParse(json)
    return data?.ldhName.toLowerCase().replace(/\.$/, '') === name ? 'taken' : 'unknown'
  }
  // An HTML page instead of an RDAP response comes from a proxy in front of the registry.
  const isOwnAnswer = text.trim() === '' || NotFoundResponse.safeParse(json).success
  return status === 404 && isOwnAnswer ? 'available' : 'unknown'
}
