import { AppError } from '#shared/appError.ts'
import { type CheckedDomain, type SearchResult, usualTlds } from '#shared/contract/domainSearch.ts'
import { type DomainName, domainName, searchedLabel } from './domainName.ts'
import type { Availability, Registrar } from './registrars/registrar.ts'

export type DomainSearch = {
  /** @throws AppError `request/invalid` where no name can be made of the query */
  search(asked: { query: string; tlds: readonly string[] | undefined; suggestions: boolean }): Promise<{
    results: SearchResult[]
    suggestions: SearchResult[]
  }>
  check(names: readonly string[]): Promise<CheckedDomain[]>
}

const before = ['get', 'try', 'my', 'use']
const behind = ['app', 'hq', 'labs', 'online']
const mostSuggestions = 8

/** Whether names can be registered, and for how much. Nothing is `available` that the registrar does not say so of. */
export function domainSearch(registrar: Pick<Registrar, 'check'>): DomainSearch {
  const checked = async (names: readonly DomainName[]): Promise<{ name: DomainName; found: Availability }[]> => {
    const found = await registrar.check(names.map(({ ascii }) => ascii))
    return names.map((name, at) => ({ name, found: found[at] ?? unknownOf(name) }))
  }
  const results = async (names: readonly DomainName[]): Promise<SearchResult[]> =>
    (await checked(names)).map(({ name, found }) => ({
      ...availabilityOf(name, found),
      pricing: found.price && {
        registration: found.price.registration / 100,
        renewal: found.price.renewal / 100,
        currency: 'USD',
      },
    }))

  return {
    async search({ query, tlds, suggestions }) {
      const whole = query.includes('.') ? nameOf(query) : undefined
      const label = whole ? whole.ascii.slice(0, -whole.tld.length - 1) : searchedLabel(query)
      if (label === '') throw new AppError('request/invalid', '`q` must have letters or digits.')
      const wanted = (tlds && tlds.length > 0 ? tlds : usualTlds).flatMap((tld) => nameOf(`${label}.${tld}`) ?? [])
      const others = wanted.filter(({ ascii }) => ascii !== whole?.ascii)
      const like = [...before.map((it) => it + label), ...behind.map((it) => label + it)]
      const proposed = suggestions ? like.flatMap((it) => nameOf(`${it}.com`) ?? []) : []
      return {
        results: await results([...(whole ? [whole] : []), ...others]),
        suggestions: (await results(proposed)).filter(({ available }) => available).slice(0, mostSuggestions),
      }
    },
    async check(names) {
      const parsed = names.map((text) => ({ text, name: tried(text) }))
      const found = await checked(parsed.flatMap(({ name }) => (name instanceof AppError ? [] : [name])))
      const byName = new Map(found.map((it) => [it.name.ascii, it]))
      return parsed.map(({ text, name }): CheckedDomain => {
        if (name instanceof AppError) {
          const none = { available: false, status: 'unknown', premium: false, price: null, currency: 'USD' } as const
          return { domain: text, unicode: text, ...none, error: name.message }
        }
        const { found: it } = byName.get(name.ascii) ?? { found: unknownOf(name) }
        return { ...availabilityOf(name, it), price: it.price && it.price.registration / 100, currency: 'USD' }
      })
    },
  }
}

function unknownOf({ ascii }: DomainName): Availability {
  return { name: ascii, status: 'unknown', premium: false, price: null }
}

function availabilityOf({ ascii, unicode, mixesScripts }: DomainName, { status, premium }: Availability) {
  return {
    domain: ascii,
    unicode,
    available: status === 'available',
    status,
    premium,
    ...(mixesScripts && { warning: 'This name mixes letters of several scripts. It may look like another name.' }),
  }
}

function tried(text: string): DomainName | AppError {
  try {
    return domainName(text)
  } catch (failure) {
    if (failure instanceof AppError) return failure
    throw failure
  }
}

function nameOf(text: string): DomainName | undefined {
  const name = tried(text)
  return name instanceof AppError ? undefined : name
}
