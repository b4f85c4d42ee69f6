import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { parseDomainName } from '../../domainName.ts'
import { toCents } from '../cents.ts'
import {
  type Availability,
  assertPrice,
  type Registrar,
  type RegistrarDomain,
  RegistrarError,
  type TldPrice,
} from '../registrar.ts'
import { assertSupportedType, formatValue, toRegistrarRecords } from '../registrarRecords.ts'
import { type NameSiloApi, type NameSiloReply, nameSiloTitle } from './nameSiloApi.ts'
import { DomainInfo, listEntries, Offer, Price, Record } from './nameSiloShapes.ts'

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const
/** Names per request. The API accepts 200, but they are part of the URL. */
const namesAtOnce = 50
/** Reply codes. */
const [alreadyLocked, alreadyUnlocked, alreadyPrivate, alreadyPublic, notOurs] = [252, 253, 255, 256, 200]

/** Creates a registrar for NameSilo. Privacy is free, and orders are paid from the funds or the card of the account. */
export function createNameSiloRegistrar(options: {
  api: NameSiloApi
  /** Payment card of the account. Undefined to pay from its funds. */
  paymentId: string | undefined
  settlesWithinMs: number
  now: () => number
}): Registrar {
  const { api, paymentId, settlesWithinMs, now } = options
  const paidBy = paymentId === undefined ? {} : { payment_id: paymentId }

  const prices = async (signal?: AbortSignal): Promise<TldPrice[]> =>
    Object.entries(await api.ask('getPrices', { signal })).flatMap(([tld, prices]) => toPrice(tld, prices) ?? [])

  const check = async (names: readonly string[], signal?: AbortSignal): Promise<Availability[]> => {
    const results = new Map<string, Availability>()
    for (let offset = 0; offset < names.length; offset += namesAtOnce) {
      const domains = names.slice(offset, offset + namesAtOnce).join(',')
      const reply = await api.ask('checkRegisterAvailability', { params: { domains }, signal })
      for (const result of toAvailabilities(reply)) results.set(result.name, result)
    }
    return names.map((name) => results.get(name) ?? { name, status: 'unknown', premium: false, price: null })
  }
  const info = async (name: string): Promise<RegistrarDomain | undefined> => {
    const reply = await api.ask('getDomainInfo', { params: { domain: name }, also: [notOurs] })
    return reply.code === notOurs ? undefined : toDomain(name, reply, now())
  }
  const change = (operation: string, params: Readonly<{ [name: string]: string | number }>, also?: readonly number[]) =>
    api.ask(operation, { params, changes: true, ...(also && { also }) })

  const registrar = { title: nameSiloTitle, recordTypes }
  return {
    ...registrar,
    id: 'namesilo',
    isTest: false,
    nameservers: ['ns1.dnsowl.com', 'ns2.dnsowl.com', 'ns3.dnsowl.com'],
    settlesWithinMs,
    prices,
    check,
    async register({ name, years, privacy, nameservers = [], price }) {
      const [present] = await check([name])
      if (present?.status === 'taken') throw new RegistrarError('taken', `${name} is taken.`)
      if (present?.status !== 'available' || !present.price) {
        throw new RegistrarError('refused', `${nameSiloTitle} does not offer ${name} at the moment.`)
      }
      assertPrice(name, price, present.price)
      const hosts = Object.fromEntries(nameservers.map((host, index) => [`ns${index + 1}`, host]))
      await change('registerDomain', {
        ...{ domain: name, years, private: privacy ? 1 : 0, auto_renew: 0 },
        ...hosts,
        ...paidBy,
      })
    },
    async renew({ name, years, amountCents }) {
      const yearly = await renewalPrice(name)
      if (yearly !== null && yearly * years > amountCents) {
        throw new RegistrarError('refused', `The renewal price of ${name} rose since the quote.`)
      }
      await change('renewDomain', { domain: name, years, ...paidBy })
    },
    renewalPrice,
    find: info,
    async setPrivacy(name, enabled) {
      await change(enabled ? 'addPrivacy' : 'removePrivacy', { domain: name }, [alreadyPrivate, alreadyPublic])
    },
    async setLocked(name, locked) {
      await change(locked ? 'domainLock' : 'domainUnlock', { domain: name }, [alreadyLocked, alreadyUnlocked])
    },
    async authCode(name) {
      await change('retrieveAuthCode', { domain: name })
      return { code: null }
    },
    async setNameservers(name, nameservers) {
      const hosts = Object.fromEntries(nameservers.map((host, index) => [`ns${index + 1}`, host]))
      await change('changeNameServers', { domain: name, ...hosts })
    },
    async records(name) {
      const reply = await api.ask('dnsListRecords', { params: { domain: name } })
      return toRegistrarRecords(name, parseRecords(reply))
    },
    async addRecord(name, record) {
      assertSupportedType(registrar, record.type)
      return recordId(await change('dnsAddRecord', { domain: name, rrtype: record.type, ...toWireRecord(record) }))
    },
    async changeRecord(name, id, record) {
      assertSupportedType(registrar, record.type)
      return recordId(await change('dnsUpdateRecord', { domain: name, rrid: id, ...toWireRecord(record) }))
    },
    async removeRecord(name, id) {
      await change('dnsDeleteRecord', { domain: name, rrid: id })
    },
  }

  async function renewalPrice(name: string): Promise<number | null> {
    const { tld } = parseDomainName(name)
    return (await prices()).find((it) => it.tld === tld)?.renewal ?? null
  }
}

function toPrice(tld: string, fields: unknown): TldPrice | undefined {
  const { data } = Price.safeParse(fields)
  const [registration, renewal, transfer] = [toCents(data?.registration), toCents(data?.renew), toCents(data?.transfer)]
  if (registration === undefined || renewal === undefined) return undefined
  return { tld: tld.toLowerCase(), registration, renewal, transfer: transfer ?? registration }
}

function toAvailabilities({ available, unavailable }: NameSiloReply): Availability[] {
  const offers = listEntries(available).flatMap((it) => Offer.safeParse(it).data ?? [])
  const none = listEntries(unavailable).flatMap((it) => Offer.safeParse(it).data ?? [])
  return [
    ...offers.map(({ domain, price, renew, premium, duration }): Availability => {
      const [registration, renewal] = [toCents(price), toCents(renew)]
      // A price for several years cannot be converted to a yearly price.
      const isWhole = registration !== undefined && renewal !== undefined && duration === 1
      return { name: domain, status: 'available', premium, price: isWhole ? { registration, renewal } : null }
    }),
    ...none.map(({ domain }): Availability => ({ name: domain, status: 'taken', premium: false, price: null })),
  ]
}

function toDomain(name: string, reply: NameSiloReply, nowMs: number): RegistrarDomain {
  const info = DomainInfo.safeParse(reply)
  if (!info.success)
    throw new RegistrarError('unreachable', `${nameSiloTitle} returned an unreadable response for ${name}.`)
  const { status, ...domain } = info.data
  const isOver = status.includes('expired') || status === 'inactive' || nowMs >= domain.expiresAtMs
  return { ...domain, name, status: status.includes('pending') ? 'pending' : isOver ? 'expired' : 'active' }
}

function parseRecords({ resource_record: list }: NameSiloReply) {
  const records = listEntries(list).map((it) => Record.safeParse(it))
  if (records.some(({ success }) => !success)) {
    throw new RegistrarError('unreachable', `${nameSiloTitle} returned unreadable DNS records.`)
  }
  return records.flatMap(({ data }) => data ?? [])
}

function toWireRecord(record: DnsRecordData) {
  const { host, ttl, distance } = record
  return {
    ...{ rrhost: host === '@' ? '' : host, rrvalue: formatValue(record), rrttl: ttl },
    ...(distance !== null && { rrdistance: distance }),
  }
}

function recordId({ record_id: id }: NameSiloReply): string {
  if ((typeof id === 'string' && id !== '') || typeof id === 'number') return String(id)
  throw new RegistrarError('unclear', `${nameSiloTitle} did not return the id of the DNS record.`)
}
