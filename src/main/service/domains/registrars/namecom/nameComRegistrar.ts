import type { z } from 'zod'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { centsOf } from '../cents.ts'
import {
  type Availability,
  type NamePrice,
  needPrice,
  type Registrar,
  type RegistrarDomain,
  RegistrarFailure,
  type TldPrice,
} from '../registrar.ts'
import { needType, sentValue, toRegistrarRecords } from '../registrarRecords.ts'
import { type NameComApi, nameComTitle } from './nameComApi.ts'
import { AuthCodeAnswer, Checked, Domain, Done, Order, RecordId, Records, TldPrices } from './nameComShapes.ts'

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'NS'] as const
const namesAtOnce = 50
const mostPages = 100
const pricesAtOnce = 1_000

/** A real registrar with a sandbox of its own. Orders name their price, and it refuses those of another one. */
export function nameComRegistrar(options: { api: NameComApi; settlesWithinMs: number; now: () => number }): Registrar {
  const { api, settlesWithinMs, now } = options
  const at = (name: string, action = '') => `/v4/domains/${encodeURIComponent(name)}${action}`
  const change = (path: string, body: object = {}) => api.ask(path, Done, { method: 'POST', body })

  const check = async (names: readonly string[], signal?: AbortSignal): Promise<Availability[]> => {
    const found = new Map<string, Availability>()
    for (let from = 0; from < names.length; from += namesAtOnce) {
      const body = { domainNames: names.slice(from, from + namesAtOnce) }
      const asked = { method: 'POST', reads: true, body, signal } as const
      const { results } = await api.ask('/v4/domains:checkAvailability', Checked, asked)
      for (const it of results) found.set(it.domainName, toAvailability(it))
    }
    return names.map((name) => found.get(name) ?? { name, status: 'unknown', premium: false, price: null })
  }
  const registrar = { title: nameComTitle, recordTypes }

  return {
    ...registrar,
    id: 'name.com',
    isTest: false,
    // Each domain has others of them: ns1cny.name.com.
    nameservers: ['.name.com'],
    settlesWithinMs,
    async prices(signal) {
      const all: TldPrice[] = []
      for (let page: number | null | undefined = 1; page && page <= mostPages; ) {
        const answer: z.infer<typeof TldPrices> = await api.ask(
          `/core/v1/tldpricing?duration=1&perPage=${pricesAtOnce}&page=${page}`,
          TldPrices,
          { signal },
        )
        all.push(...answer.pricing.flatMap(toTldPrice))
        page = answer.nextPage && answer.nextPage > page ? answer.nextPage : null
      }
      return all
    },
    check,
    async register({ name, years, privacy, nameservers, price }) {
      const [present] = await check([name])
      if (present?.status === 'taken') throw new RegistrarFailure('taken', `${name} is taken.`)
      if (present?.status !== 'available' || !present.price) {
        throw new RegistrarFailure('refused', `${nameComTitle} does not offer ${name} now.`)
      }
      needPrice(name, price, present.price)
      const domain = {
        ...{ domainName: name, privacyEnabled: privacy, autorenewEnabled: false },
        ...(nameservers && { nameservers }),
      }
      // Only a premium name is ordered by its price: usual ones may have discounts for several years.
      const promised = present.premium && { purchasePrice: dollars(totalOf(price, years)) }
      await api.ask('/v4/domains', Order, { method: 'POST', body: { domain, years, ...promised } })
    },
    async renew({ name, years, amountCents }) {
      const yearly = await renewalPrice(name)
      if (yearly === null || yearly * years > amountCents) {
        throw new RegistrarFailure('refused', `The renewal of ${name} costs more by now than it was offered for.`)
      }
      const body = { years, purchasePrice: dollars(yearly * years) }
      await api.ask(at(name, ':renew'), Order, { method: 'POST', body })
    },
    renewalPrice,
    async find(name) {
      const found = await api.find(at(name), Domain)
      return found && toDomain(found, now())
    },
    async setPrivacy(name, enabled) {
      await change(at(name, enabled ? ':enableWhoisPrivacy' : ':disableWhoisPrivacy'))
    },
    async setLocked(name, locked) {
      await change(at(name, locked ? ':lock' : ':unlock'))
    },
    async authCode(name) {
      const { authCode: code } = await api.ask(at(name, ':getAuthCode'), AuthCodeAnswer)
      return { code }
    },
    async setNameservers(name, nameservers) {
      await change(at(name, ':setNameservers'), { nameservers })
    },
    async records(name) {
      const all: z.infer<typeof Records>['records'] = []
      for (let page: number | undefined = 1; page !== undefined; ) {
        const answer: z.infer<typeof Records> = await api.ask(at(name, `/records?perPage=1000&page=${page}`), Records)
        all.push(...answer.records)
        if (answer.nextPage !== undefined && (answer.nextPage <= page || answer.nextPage > mostPages)) {
          throw new RegistrarFailure('unreachable', `${nameComTitle} lists DNS records that do not end.`)
        }
        page = answer.nextPage
      }
      return toRegistrarRecords(name, all)
    },
    async addRecord(name, record) {
      needType(registrar, record.type)
      return api.ask(at(name, '/records'), RecordId, { method: 'POST', body: sent(record) })
    },
    async changeRecord(name, id, record) {
      needType(registrar, record.type)
      return api.ask(at(name, `/records/${encodeURIComponent(id)}`), RecordId, { method: 'PUT', body: sent(record) })
    },
    async removeRecord(name, id) {
      await api.ask(at(name, `/records/${encodeURIComponent(id)}`), Done, { method: 'DELETE' })
    },
  }

  async function renewalPrice(name: string): Promise<number | null> {
    const found = await api.find(at(name), Domain)
    if (found) return centsOf(found.renewalPrice ?? undefined) ?? null
    throw new RegistrarFailure('refused', `${name} is not registered here.`)
  }
}

/** Of all years. */
function totalOf({ registration, renewal }: NamePrice, years: number): number {
  return registration + renewal * (years - 1)
}

function dollars(cents: number): number {
  return cents / 100
}

function toAvailability(it: z.infer<typeof Checked>['results'][number]): Availability {
  const { domainName: name, purchasable, premium, purchaseType } = it
  const [registration, renewal] = [centsOf(it.purchasePrice), centsOf(it.renewalPrice)]
  // Names of an aftermarket or a backorder are sold by other rules: for us they are taken.
  const isFree = purchasable && purchaseType === 'registration'
  const price = isFree && registration !== undefined && renewal !== undefined ? { registration, renewal } : null
  return { name, status: isFree ? 'available' : 'taken', premium, price }
}

function toTldPrice({ tld, ...told }: z.infer<typeof TldPrices>['pricing'][number]): TldPrice[] {
  const [registration, renewal] = [centsOf(told.registrationPrice), centsOf(told.renewalPrice)]
  if (registration === undefined || renewal === undefined) return []
  return [{ tld: tld.toLowerCase(), registration, renewal, transfer: centsOf(told.transferInPrice) ?? registration }]
}

function toDomain(told: z.infer<typeof Domain>, nowMs: number): RegistrarDomain {
  const { domainName: name, createDate, expireDate, locked, nameservers } = told
  return {
    ...{ name, registeredAtMs: createDate, expiresAtMs: expireDate, locked, nameservers },
    ...{ autoRenew: told.autorenewEnabled, privacy: told.privacyEnabled },
    status: nowMs >= expireDate ? 'expired' : 'active',
  }
}

function sent(record: DnsRecordData) {
  const { type, host, ttl, distance } = record
  return {
    ...{ host: host === '@' ? '' : host, type, answer: sentValue(record), ttl },
    ...(distance !== null && { priority: distance }),
  }
}
