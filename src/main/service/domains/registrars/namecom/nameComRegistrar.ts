import type { z } from 'zod'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { toCents } from '../cents.ts'
import {
  type Availability,
  assertPrice,
  type NamePrice,
  type Registrar,
  type RegistrarDomain,
  RegistrarError,
  type TldPrice,
} from '../registrar.ts'
import { assertSupportedType, formatValue, toRegistrarRecords } from '../registrarRecords.ts'
import { type NameComApi, nameComTitle } from './nameComApi.ts'
import { AuthCodeAnswer, Checked, Domain, Done, Order, RecordId, Records, TldPrices } from './nameComShapes.ts'

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'NS'] as const
const namesAtOnce = 50
const maxPages = 100
const pricesAtOnce = 1_000

/**
 * Creates a registrar for name.com, which also has a test environment. Orders include their price and are rejected if
 * it differs.
 */
export function createNameComRegistrar(options: {
  api: NameComApi
  settlesWithinMs: number
  now: () => number
}): Registrar {
  const { api, settlesWithinMs, now } = options
  const getPath = (name: string, action = '') => `/v4/domains/${encodeURIComponent(name)}${action}`
  const change = (path: string, body: object = {}) => api.ask(path, Done, { method: 'POST', body })

  const check = async (names: readonly string[], signal?: AbortSignal): Promise<Availability[]> => {
    const byName = new Map<string, Availability>()
    for (let from = 0; from < names.length; from += namesAtOnce) {
      const body = { domainNames: names.slice(from, from + namesAtOnce) }
      const options = { method: 'POST', reads: true, body, signal } as const
      const { results } = await api.ask('/v4/domains:checkAvailability', Checked, options)
      for (const result of results) byName.set(result.domainName, toAvailability(result))
    }
    return names.map((name) => byName.get(name) ?? { name, status: 'unknown', premium: false, price: null })
  }
  const registrar = { title: nameComTitle, recordTypes }

  return {
    ...registrar,
    id: 'name.com',
    isTest: false,
    // Each domain gets different ones, such as ns1cny.name.com.
    nameservers: ['.name.com'],
    settlesWithinMs,
    prices: (signal) => listPrices(api, signal),
    check,
    async register({ name, years, privacy, nameservers, price }) {
      const [present] = await check([name])
      if (present?.status === 'taken') throw new RegistrarError('taken', `${name} is taken.`)
      if (present?.status !== 'available' || !present.price) {
        throw new RegistrarError('refused', `${nameComTitle} does not offer ${name} at the moment.`)
      }
      assertPrice(name, price, present.price)
      const domain = {
        ...{ domainName: name, privacyEnabled: privacy, autorenewEnabled: false },
        ...(nameservers && { nameservers }),
      }
      // Only orders of premium names include the price, because other names may have multi-year discounts.
      const promised = present.premium && { purchasePrice: toDollars(getTotal(price, years)) }
      await api.ask('/v4/domains', Order, { method: 'POST', body: { domain, years, ...promised } })
    },
    async renew({ name, years, amountCents }) {
      const yearly = await renewalPrice(name)
      if (yearly === null || yearly * years > amountCents) {
        throw new RegistrarError('refused', `The renewal price of ${name} rose since the quote.`)
      }
      const body = { years, purchasePrice: toDollars(yearly * years) }
      await api.ask(getPath(name, ':renew'), Order, { method: 'POST', body })
    },
    renewalPrice,
    async find(name) {
      const domain = await api.find(getPath(name), Domain)
      return domain && toDomain(domain, now())
    },
    async setPrivacy(name, enabled) {
      await change(getPath(name, enabled ? ':enableWhoisPrivacy' : ':disableWhoisPrivacy'))
    },
    async setLocked(name, locked) {
      await change(getPath(name, locked ? ':lock' : ':unlock'))
    },
    async authCode(name) {
      const { authCode: code } = await api.ask(getPath(name, ':getAuthCode'), AuthCodeAnswer)
      return { code }
    },
    async setNameservers(name, nameservers) {
      await change(getPath(name, ':setNameservers'), { nameservers })
    },
    async records(name) {
      return toRegistrarRecords(name, await listRecords(api, (query) => getPath(name, `/records?${query}`)))
    },
    async addRecord(name, record) {
      assertSupportedType(registrar, record.type)
      return api.ask(getPath(name, '/records'), RecordId, { method: 'POST', body: toWireRecord(record) })
    },
    async changeRecord(name, id, record) {
      assertSupportedType(registrar, record.type)
      return api.ask(getPath(name, `/records/${encodeURIComponent(id)}`), RecordId, {
        method: 'PUT',
        body: toWireRecord(record),
      })
    },
    async removeRecord(name, id) {
      await api.ask(getPath(name, `/records/${encodeURIComponent(id)}`), Done, { method: 'DELETE' })
    },
  }

  async function renewalPrice(name: string): Promise<number | null> {
    const domain = await api.find(getPath(name), Domain)
    if (domain) return toCents(domain.renewalPrice ?? undefined) ?? null
    throw new RegistrarError('refused', `${name} is not registered here.`)
  }
}

async function listPrices(api: NameComApi, signal: AbortSignal | undefined): Promise<TldPrice[]> {
  const all: TldPrice[] = []
  for (let page: number | null | undefined = 1; page && page <= maxPages; ) {
    const answer: z.infer<typeof TldPrices> = await api.ask(
      `/core/v1/tldpricing?duration=1&perPage=${pricesAtOnce}&page=${page}`,
      TldPrices,
      { signal },
    )
    all.push(...answer.pricing.flatMap(toTldPrice))
    page = answer.nextPage && answer.nextPage > page ? answer.nextPage : null
  }
  return all
}

async function listRecords(
  api: NameComApi,
  getPath: (query: string) => string,
): Promise<z.infer<typeof Records>['records']> {
  const all: z.infer<typeof Records>['records'] = []
  for (let page: number | undefined = 1; page !== undefined; ) {
    const answer: z.infer<typeof Records> = await api.ask(getPath(`perPage=1000&page=${page}`), Records)
    all.push(...answer.records)
    if (answer.nextPage !== undefined && (answer.nextPage <= page || answer.nextPage > maxPages)) {
      throw new RegistrarError('unreachable', `${nameComTitle} returned an endless list of DNS records.`)
    }
    page = answer.nextPage
  }
  return all
}

function getTotal({ registration, renewal }: NamePrice, years: number): number {
  return registration + renewal * (years - 1)
}

function toDollars(cents: number): number {
  return cents / 100
}

function toAvailability(result: z.infer<typeof Checked>['results'][number]): Availability {
  const { domainName: name, purchasable, premium, purchaseType } = result
  const [registration, renewal] = [toCents(result.purchasePrice), toCents(result.renewalPrice)]
  // Aftermarket and backorder names follow other rules, so they are reported as taken.
  const isFree = purchasable && purchaseType === 'registration'
  const price = isFree && registration !== undefined && renewal !== undefined ? { registration, renewal } : null
  return { name, status: isFree ? 'available' : 'taken', premium, price }
}

function toTldPrice({ tld, ...prices }: z.infer<typeof TldPrices>['pricing'][number]): TldPrice[] {
  const [registration, renewal] = [toCents(prices.registrationPrice), toCents(prices.renewalPrice)]
  if (registration === undefined || renewal === undefined) return []
  return [{ tld: tld.toLowerCase(), registration, renewal, transfer: toCents(prices.transferInPrice) ?? registration }]
}

function toDomain({ renewalPrice: _, ...domain }: z.infer<typeof Domain>, nowMs: number): RegistrarDomain {
  return { ...domain, status: nowMs >= domain.expiresAtMs ? 'expired' : 'active' }
}

function toWireRecord(record: DnsRecordData) {
  const { type, host, ttl, distance } = record
  return {
    ...{ host: host === '@' ? '' : host, type, answer: formatValue(record), ttl },
    ...(distance !== null && { priority: distance }),
  }
}
