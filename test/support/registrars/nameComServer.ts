import { z } from 'zod'
import { laterYear, type RegistrarRequest, type RegistrarResponse, registrarServer } from './registrarServer.ts'

export const nameComLogin = { username: 'ada-test', token: '8c1fd2e63b7745aa90e4' }

const Record = z.strictObject({
  host: z.string(),
  type: z.enum(['A', 'AAAA', 'ANAME', 'CNAME', 'MX', 'NS', 'SRV', 'TXT']),
  answer: z.string().min(1),
  ttl: z.number().int().min(300),
  priority: z.number().int().min(0).max(65_535).optional(),
})
const Years = z.number().int().min(1).max(10)
const Bodies = {
  check: z.strictObject({ domainNames: z.array(z.string().min(1)).min(1).max(50) }),
  create: z.strictObject({
    domain: z.strictObject({
      domainName: z.string(),
      nameservers: z.array(z.string()).min(2).max(13).optional(),
      privacyEnabled: z.boolean().optional(),
      autorenewEnabled: z.boolean().optional(),
    }),
    purchasePrice: z.number().positive().optional(),
    purchaseType: z.literal('registration').optional(),
    years: Years.default(1),
  }),
  renew: z.strictObject({ years: Years.default(1), purchasePrice: z.number().positive().optional() }),
  hosts: z.strictObject({ nameservers: z.array(z.string()).min(2).max(13) }),
  none: z.strictObject({}),
}
type Row = z.infer<typeof Record> & { id: number }
type DomainState = {
  created: Date
  expires: Date
  isPrivate: boolean
  isLocked: boolean
  hosts: string[]
  records: Row[]
}
const prices: Readonly<{ [tld: string]: readonly [number, number] }> = { com: [10.99, 12.99], org: [8.99, 14.49] }
const premiumPrice = 2_242

class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Fake of name.com API version 4 (https://www.name.com/api-docs): Basic authentication, JSON with a content type, false
 * and zero fields omitted from responses, pagination, and rejection of orders with a different price.
 */
export async function nameComServer(options: { recordsAPage?: number } = {}) {
  const { recordsAPage = 1_000 } = options
  const domains = new Map<string, DomainState>()
  const registered = new Set<string>()
  const billed: string[] = []
  let ids = 1_000

  const getPrice = (name: string) => {
    const price = prices[name.slice(name.indexOf('.') + 1)]
    return price && name.startsWith('premium-') ? ([premiumPrice, premiumPrice] as const) : price
  }
  const requireDomain = (name: string): DomainState => {
    const domain = domains.get(name)
    if (domain) return domain
    throw new Refusal(404, 'Not Found')
  }
  const domainJson = (name: string) => {
    const domain = requireDomain(name)
    return brief({
      ...{ domainName: name, nameservers: domain.hosts, privacyEnabled: domain.isPrivate, locked: domain.isLocked },
      ...{ autorenewEnabled: false, expireDate: time(domain.expires), createDate: time(domain.created) },
      renewalPrice: getPrice(name)?.[1],
    })
  }
  const recordJson = (name: string, { host, ...row }: Row) =>
    brief({ ...row, domainName: name, host, fqdn: `${host === '' ? '' : `${host}.`}${name}.` })
  const assertPrice = (sentPrice: number | undefined, price: number) => {
    if (sentPrice !== undefined && sentPrice !== price) throw new Refusal(400, 'Purchase price does not match')
  }

  const createDomain = (body: unknown) => {
    const { domain, purchasePrice, years } = parseBody(Bodies.create, body)
    const { domainName: name } = domain
    const price = getPrice(name)
    if (!price) throw new Refusal(400, 'Unsupported TLD')
    if (domains.has(name) || registered.has(name)) throw new Refusal(400, 'Domain is not available')
    if (name.startsWith('premium-') && purchasePrice === undefined) throw new Refusal(400, 'Purchase price is required')
    assertPrice(purchasePrice, price[0] + price[1] * (years - 1))
    billed.push(`register ${name}`)
    const now = new Date()
    domains.set(name, {
      ...{ created: now, expires: laterYear(now, years), isPrivate: domain.privacyEnabled ?? false, isLocked: true },
      ...{ hosts: domain.nameservers ?? ['ns1.name.com', 'ns2.name.com'], records: [] },
    })
    return { domain: domainJson(name), order: billed.length, totalPaid: price[0] }
  }
  const performAction = (name: string, action: string, body: unknown) => {
    const domain = requireDomain(name)
    if (action === 'renew') {
      const { years, purchasePrice } = parseBody(Bodies.renew, body)
      assertPrice(purchasePrice, (getPrice(name)?.[1] ?? 0) * years)
      billed.push(`renew ${name}`)
      domain.expires = laterYear(domain.expires, years)
      return { domain: domainJson(name), order: billed.length, totalPaid: 1 }
    }
    if (action === 'setNameservers') domain.hosts = parseBody(Bodies.hosts, body).nameservers
    else parseBody(Bodies.none, body)
    if (action === 'lock' || action === 'unlock') domain.isLocked = action === 'lock'
    if (action === 'enableWhoisPrivacy' || action === 'disableWhoisPrivacy')
      domain.isPrivate = action.startsWith('enable')
    return domainJson(name)
  }
  const listRecords = (name: string, query: URLSearchParams) => {
    const page = Number(query.get('page') ?? 1)
    const all = requireDomain(name).records
    const rows = all.slice((page - 1) * recordsAPage, page * recordsAPage)
    const hasMore = all.length > page * recordsAPage
    return {
      ...(rows.length > 0 && { records: rows.map((row) => recordJson(name, row)) }),
      ...(hasMore && { nextPage: page + 1, lastPage: Math.ceil(all.length / recordsAPage) }),
    }
  }
  const checked = (body: unknown) => ({
    results: parseBody(Bodies.check, body)
      .domainNames.map((domainName) => {
        const [sld = '', ...rest] = domainName.split('.')
        const price = getPrice(domainName)
        const isFree = price !== undefined && !domains.has(domainName) && !registered.has(domainName)
        return brief({
          ...{ domainName, sld, tld: rest.join('.'), purchasable: isFree },
          ...(isFree && { premium: domainName.startsWith('premium-'), purchasePrice: price[0] }),
          ...(isFree && { purchaseType: 'registration', renewalPrice: price[1] }),
        })
      })
      .reverse(),
  })

  const route = ({ method, path, query, body: text }: RegistrarRequest): object => {
    const body = text === '' ? undefined : JSON.parse(text)
    const is = (verb: string, pattern: RegExp) => (method === verb ? pattern.exec(path) : null)
    if (is('GET', /^\/core\/v1\/tldpricing$/)) {
      const pricing = Object.entries(prices).map(([tld, [registrationPrice, renewalPrice]]) => ({
        ...{ tld, duration: 1, registrationPrice, renewalPrice, transferInPrice: 9.5 },
      }))
      return { pricing, nextPage: null, lastPage: 1, totalCount: pricing.length, from: 1, to: pricing.length }
    }
    if (is('POST', /^\/v4\/domains:checkAvailability$/)) return checked(body)
    if (is('POST', /^\/v4\/domains$/)) return createDomain(body)
    const code = is('GET', /^\/v4\/domains\/([a-z0-9.-]+):getAuthCode$/)
    if (code) {
      if (requireDomain(code[1] ?? '').isLocked) throw new Refusal(400, 'The domain is locked')
      return { authCode: 'Xy7-pQ2' }
    }
    const singleDomain = is('GET', /^\/v4\/domains\/([a-z0-9.-]+)$/)
    if (singleDomain) return domainJson(singleDomain[1] ?? '')
    const action = is(
      'POST',
      /^\/v4\/domains\/([a-z0-9.-]+):(renew|lock|unlock|setNameservers|enableWhoisPrivacy|disableWhoisPrivacy)$/,
    )
    if (action) return performAction(action[1] ?? '', action[2] ?? '', body)
    const list = /^\/v4\/domains\/([a-z0-9.-]+)\/records$/.exec(path)
    const name = list?.[1] ?? ''
    if (list && method === 'GET') return listRecords(name, query)
    if (list && method === 'POST') {
      const row = { ...parseBody(Record, body), id: ++ids }
      requireDomain(name).records.push(row)
      return recordJson(name, row)
    }
    const record = /^\/v4\/domains\/([a-z0-9.-]+)\/records\/(\d+)$/.exec(path)
    if (!record) throw new Refusal(404, 'Not Found')
    const domain = requireDomain(record[1] ?? '')
    const row = domain.records.find(({ id }) => String(id) === record[2])
    if (!row) throw new Refusal(404, 'Not Found')
    if (method === 'PUT') return recordJson(record[1] ?? '', Object.assign(row, parseBody(Record, body)))
    domain.records = domain.records.filter(({ id }) => id !== row.id)
    return {}
  }

  const basic = `Basic ${Buffer.from(`${nameComLogin.username}:${nameComLogin.token}`).toString('base64')}`
  const answer = (request: RegistrarRequest): RegistrarResponse => {
    const { method, headers, path } = request
    const isJson = headers['content-type'] === 'application/json'
    if (headers.authorization !== basic) return { status: 403, json: { message: 'Permission Denied' } }
    if (/POST|PUT/.test(method) && !isJson && !/lock$|Privacy$/.test(path)) {
      return { status: 403, json: { message: 'Forbidden' } }
    }
    try {
      return { status: 200, json: route(request) }
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, json: { message: error.message } }
      throw error
    }
  }
  const server = await registrarServer(answer)
  return {
    ...server,
    billed,
    take: (name: string) => void registered.add(name),
    isHeld: (name: string) => domains.has(name),
    plant: (name: string, row: Row) => void domains.get(name)?.records.push(row),
  }
}

function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body)
  if (error) throw new Refusal(400, `Invalid Argument: ${error.issues[0]?.path.join('.')}`)
  return data
}

/** Omits fields that are false, zero or empty. */
function brief(json: { [field: string]: unknown }): object {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== false && value !== 0 && value !== ''))
}

function time(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}
