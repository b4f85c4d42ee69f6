import { laterYear, type RegistrarRequest, type RegistrarResponse, registrarServer } from './registrarServer.ts'

type DomainState = {
  created: Date
  expires: Date
  isPrivate: boolean
  isLocked: boolean
  hosts: string[]
  records: Row[]
}
type Row = { record_id: string; type: string; host: string; value: string; ttl: number; distance: number }
type Params = Readonly<Record<string, string>>

export const nameSiloKey = 'b4f1c9e27a8d3560'

const hosts = (min: number) =>
  Array.from({ length: 13 }, (_, index) => (index < min ? `ns${index + 1}!` : `ns${index + 1}`))
/** Parameters of each operation. `!` marks required ones. */
const operations: Readonly<Record<string, readonly string[]>> = {
  getPrices: [],
  checkRegisterAvailability: ['domains!'],
  registerDomain: ['domain!', 'years!', 'payment_id', 'private', 'auto_renew', 'portfolio', 'coupon', ...hosts(0)],
  renewDomain: ['domain!', 'years!', 'payment_id', 'coupon'],
  getDomainInfo: ['domain!'],
  addPrivacy: ['domain!'],
  removePrivacy: ['domain!'],
  domainLock: ['domain!'],
  domainUnlock: ['domain!'],
  retrieveAuthCode: ['domain!'],
  changeNameServers: ['domain!', ...hosts(2)],
  dnsListRecords: ['domain!'],
  dnsAddRecord: ['domain!', 'rrtype!', 'rrhost!', 'rrvalue!', 'rrdistance', 'rrttl'],
  dnsUpdateRecord: ['domain!', 'rrid!', 'rrhost!', 'rrvalue!', 'rrdistance', 'rrttl'],
  dnsDeleteRecord: ['domain!', 'rrid!'],
}
const listed: Readonly<Record<string, readonly [number, number]>> = { com: [13.95, 15.95], org: [9.79, 11.29] }
const premiumPrice = 2_242
const types = ['A', 'AAAA', 'CNAME', 'MX', 'TXT']

class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Fake of the NameSilo API (https://www.namesilo.com/api-reference): GET only, the key in the query, error codes in a
 * response with status 200, and a list of one element as that element. Rejects undocumented operations and parameters.
 */
export async function nameSiloServer() {
  const owned = new Map<string, DomainState>()
  const registered = new Set<string>()
  const billed: string[] = []
  const prices: Record<string, readonly [number, number]> = { ...listed }
  let ids = 0

  const getPrice = (name: string) => {
    const [registration, renewal] = prices[name.slice(name.indexOf('.') + 1)] ?? []
    if (registration === undefined || renewal === undefined) return undefined
    return name.startsWith('premium-') ? [premiumPrice, premiumPrice] : [registration, renewal]
  }
  const requireDomain = (name: string | undefined): DomainState => {
    const domain = owned.get(name ?? '')
    if (domain) return domain
    throw new Refusal(200, 'Domain is not active, or does not belong to this user')
  }
  const parseYears = ({ years }: Params): number => {
    if (/^([1-9]|10)$/.test(years ?? '')) return Number(years)
    throw new Refusal(263, 'Invalid number of years, or no years provided')
  }
  const readHosts = (params: Params) => hosts(0).flatMap((name) => params[name] ?? [])
  const toRow = (domain: string, params: Params, type: string): Omit<Row, 'record_id'> => {
    const { rrhost: host = '', rrvalue: value = '', rrttl = '7207', rrdistance = '0' } = params
    const ttl = Number(rrttl)
    if (!types.includes(type)) throw new Refusal(280, 'DNS modification error: invalid type')
    if (!Number.isInteger(ttl) || ttl < 300 || ttl > 2_592_000) throw new Refusal(280, 'DNS modification error: TTL')
    if (host.endsWith(domain) || host === '@') throw new Refusal(280, 'DNS modification error: host')
    if (type !== 'MX' && 'rrdistance' in params) throw new Refusal(280, 'DNS modification error: distance')
    return { type, host: host === '' ? domain : `${host}.${domain}`, value, ttl, distance: Number(rrdistance) }
  }

  const done: Readonly<Record<string, (params: Params) => object>> = {
    getPrices: () =>
      Object.fromEntries(
        Object.entries(prices).map(([tld, [registration, renew]]) => [
          tld,
          { registration: String(registration), transfer: '8.95', renew: String(renew) },
        ]),
      ),
    checkRegisterAvailability({ domains = '' }) {
      const names = domains.split(',')
      if (names.length > 200) throw new Refusal(210, 'General error: too many domains')
      const isFree = (name: string) => getPrice(name) !== undefined && !owned.has(name) && !registered.has(name)
      const available = names.filter(isFree).map((domain) => {
        const [price, renew] = getPrice(domain) ?? []
        return { domain, price, renew, premium: domain.startsWith('premium-') ? 1 : 0, duration: 1 }
      })
      const invalid = names.filter((name) => getPrice(name) === undefined)
      const unavailable = names.filter((name) => !isFree(name) && !invalid.includes(name))
      return { ...shrunk('available', available), ...shrunk('unavailable', unavailable), ...shrunk('invalid', invalid) }
    },
    registerDomain(params) {
      const { domain = '' } = params
      const years = parseYears(params)
      if (!getPrice(domain)) throw new Refusal(210, 'General error: TLD is not supported')
      if (owned.has(domain)) throw new Refusal(262, 'This domain is already active within our system')
      if (registered.has(domain)) throw new Refusal(261, 'Domain unavailable for registration.')
      billed.push(`register ${domain}`)
      const hostnames = readHosts(params)
      const created = new Date()
      owned.set(domain, {
        ...{ created, expires: laterYear(created, years), isPrivate: params.private === '1', isLocked: true },
        ...{ hosts: hostnames.length > 0 ? hostnames : ['NS1.DNSOWL.COM', 'NS2.DNSOWL.COM'], records: [] },
      })
      return {
        ...{ message: 'Your domain registration was successfully processed.', domain },
        order_amount: getPrice(domain)?.[0],
      }
    },
    renewDomain(params) {
      const domain = requireDomain(params.domain)
      const years = parseYears(params)
      billed.push(`renew ${params.domain}`)
      domain.expires = laterYear(domain.expires, years)
      return { message: 'Your domain renewal was successfully processed.', domain: params.domain, order_amount: 7.77 }
    },
    getDomainInfo({ domain }) {
      const it = requireDomain(domain)
      return {
        ...{ created: day(it.created), expires: day(it.expires), status: 'Active', locked: yes(it.isLocked) },
        ...{ private: yes(it.isPrivate), auto_renew: 'No', traffic_type: 'Custom DNS', portfolio: '' },
        ...{ email_verification_required: 'No', forward_url: 'N/A', forward_type: 'N/A' },
        nameservers: it.hosts.map((nameserver, index) => ({ nameserver, position: index + 1 })),
        contact_ids: { registrant: '1', administrative: '1', technical: '1', billing: '1' },
      }
    },
    addPrivacy({ domain }) {
      const it = requireDomain(domain)
      if (it.isPrivate) throw new Refusal(255, 'Domain is already Private - No update made.')
      it.isPrivate = true
      return {}
    },
    removePrivacy({ domain }) {
      const it = requireDomain(domain)
      if (!it.isPrivate) throw new Refusal(256, 'Domain is already not Private - No update made.')
      it.isPrivate = false
      return {}
    },
    domainLock({ domain }) {
      const it = requireDomain(domain)
      if (it.isLocked) throw new Refusal(252, 'Domain is already Locked - No update made.')
      it.isLocked = true
      return {}
    },
    domainUnlock({ domain }) {
      const it = requireDomain(domain)
      if (!it.isLocked) throw new Refusal(253, 'Domain is already Unlocked - No update made.')
      it.isLocked = false
      return {}
    },
    retrieveAuthCode({ domain }) {
      requireDomain(domain)
      return {}
    },
    changeNameServers(params) {
      requireDomain(params.domain).hosts = readHosts(params)
      return {}
    },
    dnsListRecords: ({ domain }) => shrunk('resource_record', requireDomain(domain).records),
    dnsAddRecord(params) {
      const { domain = '', rrtype = '' } = params
      const row = { record_id: `${++ids}a2b3c`, ...toRow(domain, params, rrtype) }
      requireDomain(domain).records.push(row)
      return { record_id: row.record_id }
    },
    /** The updated record gets a new id. */
    dnsUpdateRecord(params) {
      const { domain = '', rrid } = params
      const all = requireDomain(domain).records
      const before = all.find((it) => it.record_id === rrid)
      if (!before) throw new Refusal(280, 'DNS modification error: no such record')
      Object.assign(before, toRow(domain, params, before.type), { record_id: `${++ids}d4e5f` })
      return { record_id: before.record_id }
    },
    dnsDeleteRecord({ domain, rrid }) {
      const it = requireDomain(domain)
      if (!it.records.some((row) => row.record_id === rrid)) throw new Refusal(280, 'DNS modification error')
      it.records = it.records.filter((row) => row.record_id !== rrid)
      return {}
    },
  }

  const answer = ({ method, path, query }: RegistrarRequest): RegistrarResponse => {
    const operation = path.replace('/api/', '')
    const reply = (code: number, detail: string, more: object = {}): RegistrarResponse => ({
      status: 200,
      json: { request: { operation, ip: '127.0.0.1' }, reply: { code, detail, ...more } },
    })
    const { version, type, key, ...params }: Record<string, string> = Object.fromEntries(query)
    const takes = operations[operation]
    if (method !== 'GET' || version !== '1' || type !== 'json') return reply(103, 'Invalid version or type')
    if (key === undefined) return reply(109, 'No API key specified')
    if (key !== nameSiloKey) return reply(110, `Invalid API Key ${key}`)
    if (!takes) return reply(107, 'Invalid API operation')
    const missing = takes.some((name) => name.endsWith('!') && params[name.slice(0, -1)] === undefined)
    const unknown = Object.keys(params).filter((name) => !takes.includes(name) && !takes.includes(`${name}!`))
    if (missing || unknown.length > 0) return reply(108, `Missing or unknown parameters: ${unknown.join()}`)
    try {
      return reply(300, 'success', done[operation]?.(params))
    } catch (error) {
      if (error instanceof Refusal) return reply(error.code, error.message)
      throw error
    }
  }
  const server = await registrarServer(answer)
  return {
    ...server,
    url: `${server.url}/api`,
    /** Orders that were billed. */
    billed,
    /** Sets the price for subsequent requests. */
    costs(tld: string, price: readonly [registration: number, renewal: number]) {
      prices[tld] = price
    },
    take: (name: string) => void registered.add(name),
    isHeld: (name: string) => owned.has(name),
    /** Sets a record as if through the registrar's website. */
    plant: (name: string, row: Row) => void owned.get(name)?.records.push(row),
  }
}

function shrunk(name: string, list: readonly unknown[]): object {
  if (list.length === 0) return {}
  return { [name]: list.length === 1 ? list[0] : list }
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function yes(value: boolean): string {
  return value ? 'Yes' : 'No'
}
