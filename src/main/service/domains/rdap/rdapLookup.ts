import { z } from 'zod'
import type { HttpClient } from '#platform/httpClient.ts'
import { parsedJson } from '#platform/parsedJson.ts'
import type { Availability } from '../registrars/registrar.ts'
import type { RdapBootstrap } from './rdapBootstrap.ts'

export type RdapLookup = {
  /** In the order asked. Only the registry's own "no such name" is `available`; prices it does not tell. */
  check(names: readonly string[]): Promise<readonly Availability[]>
}

const withinMs = 10_000
const keptMs = 5 * 60_000
const mostKept = 5_000
const atOnce = 8

const Found = z.object({ objectClassName: z.literal('domain'), ldhName: z.string() })
const NotFound = z.object({ errorCode: z.literal(404).optional() })

/**
 * Whether names are registered in the world, asked of the server that IANA names for each. It follows no redirect:
 * whatever else answers may know nothing of the name, and its 404 would say so of a name that is taken.
 */
export function rdapLookup(options: { bootstrap: RdapBootstrap; http: HttpClient; now: () => number }): RdapLookup {
  const { bootstrap, http, now } = options
  const kept = new Map<string, { status: Availability['status']; atMs: number }>()

  const asked = async (name: string): Promise<Availability['status']> => {
    const server = bootstrap(name)
    if (server === undefined) return 'unknown'
    try {
      const { status, text } = await http.ask(`${server}domain/${encodeURIComponent(name)}`, {
        method: 'GET',
        headers: { accept: 'application/rdap+json, application/json' },
        signal: AbortSignal.timeout(withinMs),
      })
      return statusOf(name, status, text)
    } catch {
      return 'unknown'
    }
  }
  const known = async (name: string): Promise<Availability['status']> => {
    const before = kept.get(name)
    if (before && now() - before.atMs < keptMs) return before.status
    const status = await asked(name)
    if (status === 'unknown') return status
    const [oldest] = kept.keys()
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
    kept.set(name, { status, atMs: now() })
    return status
  }

  return {
    async check(names) {
      const found: Availability[] = names.map((name) => ({ name, status: 'unknown', premium: false, price: null }))
      const waiting = found.values()
      const work = async (): Promise<void> => {
        for (const one of waiting) one.status = await known(one.name)
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return found
    },
  }
}

function statusOf(name: string, status: number, text: string): Availability['status'] {
  const json = parsedJson(text)
  if (status === 200) {
    const { data } = Found.safeParse(json)
    return data?.ldhName.toLowerCase().replace(/\.$/, '') === name ? 'taken' : 'unknown'
  }
  // A page in the place of an answer comes from something in front of the registry.
  const isOwnAnswer = text.trim() === '' || NotFound.safeParse(json).success
  return status === 404 && isOwnAnswer ? 'available' : 'unknown'
}
