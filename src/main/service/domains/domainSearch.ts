import { AppError } from '#shared/appError.ts'
import { type CheckedDomain, defaultTlds, type SearchResult } from '#shared/contract/domainSearch.ts'
import { type DomainName, parseDomainName, toSearchLabel } from './domainName.ts'
import type { Availability, Registrar } from './registrars/registrar.ts'

export type DomainSearch = {
  /** @throws AppError `request/invalid` if the query contains no valid name */
  search(options: { query: string; tlds: readonly string[] | undefined; suggestions: boolean }): Promise<{
    results: SearchResult[]
    suggestions: SearchResult[]
  }>
  check(names: readonly string[]): Promise<CheckedDomain[]>
}

const suggestionPrefixes = ['get', 'try', 'my', 'use']
const suffixes = ['app', 'hq', 'labs', 'online']
const maxSuggestions = 8

/**
 * Searches for names that can be registered and their prices. A name is `available` only if the registrar reports it.
 */
export function createDomainSearch(registrar: Pick<Registrar, 'check'>): DomainSearch {
  const checked = async (names: readonly DomainName[]): Promise<{ name: DomainName; availability: Availability }[]> => {
    const results = await registrar.check(names.map(({ ascii }) => ascii))
    return names.map((name, index) => ({ name, availability: results[index] ?? createUnknown(name) }))
  }
  const results = async (names: readonly DomainName[]): Promise<SearchResult[]> =>
    (await checked(names)).map(({ name, availability }) => ({
      ...toAvailability(name, availability),
      pricing: availability.price && {
        registration: availability.price.registration / 100,
        renewal: availability.price.renewal / 100,
        currency: 'USD',
      },
    }))

  return {
    async search({ query, tlds, suggestions }) {
      const whole = query.includes('.') ? parseName(query) : undefined
      const label = whole ? whole.ascii.slice(0, -whole.tld.length - 1) : toSearchLabel(query)
      if (label === '') throw new AppError('request/invalid', '`q` must contain letters or digits.')
      const candidates = (tlds && tlds.length > 0 ? tlds : defaultTlds).flatMap(
        (tld) => parseName(`${label}.${tld}`) ?? [],
      )
      const others = candidates.filter(({ ascii }) => ascii !== whole?.ascii)
      const like = [...suggestionPrefixes.map((it) => it + label), ...suffixes.map((it) => label + it)]
      const proposed = suggestions ? like.flatMap((it) => parseName(`${it}.com`) ?? []) : []
      return {
        results: await results([...(whole ? [whole] : []), ...others]),
        suggestions: (await results(proposed)).filter(({ available }) => available).slice(0, maxSuggestions),
      }
    },
    async check(names) {
      const parsed = names.map((text) => ({ text, name: tryParse(text) }))
      const results = await checked(parsed.flatMap(({ name }) => (name instanceof AppError ? [] : [name])))
      const byName = new Map(results.map((result) => [result.name.ascii, result]))
      return parsed.map(({ text, name }): CheckedDomain => {
        if (name instanceof AppError) {
          const none = { available: false, status: 'unknown', premium: false, price: null, currency: 'USD' } as const
          return { domain: text, unicode: text, ...none, error: name.message }
        }
        const { availability } = byName.get(name.ascii) ?? { availability: createUnknown(name) }
        return {
          ...toAvailability(name, availability),
          price: availability.price && availability.price.registration / 100,
          currency: 'USD',
        }
      })
    },
  }
}

function createUnknown({ ascii }: DomainName): Availability {
  return { name: ascii, status: 'unknown', premium: false, price: null }
}

function toAvailability({ ascii, unicode, mixesScripts }: DomainName, { status, premium }: Availability) {
  return {
    domain: ascii,
    unicode,
    available: status === 'available',
    status,
    premium,
    ...(mixesScripts && { warning: 'This name mixes letters of several scripts. It may look like another name.' }),
  }
}

function tryParse(text: string): DomainName | AppError {
  try {
    return parseDomainName(text)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function parseName(text: string): DomainName | undefined {
  const name = tryParse(text)
  return name instanceof AppError ? undefined : name
}
