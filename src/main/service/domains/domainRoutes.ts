import { domainToUnicode } from 'node:url'
import { AppError } from '#shared/appError.ts'
import { listDomainTransactions, quoteDomain } from '#shared/contract/domainOrders.ts'
import {
  checkDomains,
  defaultTlds,
  domainLimits,
  listDomainPrices,
  searchDomains,
} from '#shared/contract/domainSearch.ts'
import {
  type Domain,
  getAuthCode,
  getDomain,
  listDomains,
  setDomainLock,
  setDomainPrivacy,
  setNameservers,
} from '#shared/contract/domains.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, createOpenEndpoint, type Endpoint } from '../base/endpoint.ts'
import { createDnsRecordRoutes, type DnsRecordRouteOptions, orphanToWire } from './dnsRecordRoutes.ts'
import { requireDomainField } from './domainName.ts'
import type { DomainOrders } from './domainOrders.ts'
import type { DomainQuotes } from './domainQuotes.ts'
import type { DomainSearch } from './domainSearch.ts'
import type { CachedDomain, Domains } from './domains.ts'
import type { Order } from './orderRepository.ts'
import type { OrphanedDomain } from './orphanedDomainRepository.ts'
import { listNamesUnder } from './orphanedDomains.ts'
import type { DomainQuote } from './quoteRepository.ts'
import { mapRegistrarErrors } from './registrarErrors.ts'
import type { Registrar } from './registrars/registrar.ts'

type DomainRouteOptions = DnsRecordRouteOptions & {
  registrar: Registrar
  search: DomainSearch
  /** Availability lookup by RDAP. */
  worldSearch: Pick<DomainSearch, 'check'>
  quotes: Pick<DomainQuotes, 'make'>
  /** @throws AppError if the service's payment method cannot buy names */
  assertSaleEnabled: () => void
  domains: Domains
  orders: Pick<DomainOrders, 'list'>
  /** `HOST:PORT` of the DNS server for the test registry. Undefined if DNS is not served. */
  dnsServer: string | undefined
  now: () => number
}

export function createDomainRoutes(options: DomainRouteOptions): Endpoint[] {
  const { orders } = options
  return [
    ...createSearchRoutes(options),
    ...createRegistrationRoutes(options),
    ...createDnsRecordRoutes(options),
    createEndpoint(listDomainTransactions, async (_, { caller }) => ({
      transactions: (await orders.list(caller.accountId)).map(orderToWire),
    })),
  ]
}

function createSearchRoutes({ registrar, search, worldSearch, dnsServer }: DomainRouteOptions): Endpoint[] {
  const origin = { registrar: registrar.title, test: registrar.isTest }
  return [
    createOpenEndpoint(searchDomains, async ({ query: { q, query = q ?? '', tlds, suggestions } }, { openQuota }) => {
      const count = await openQuota('name')
      for (let names = tlds?.length ?? defaultTlds.length; names > 0; names -= 1) count()
      return { query, ...(await mapRegistrarErrors(search.search({ query, tlds, suggestions }))), ...origin }
    }),
    createOpenEndpoint(checkDomains, async ({ query: { domains: names, source } }, { openQuota }) => {
      const count = await openQuota('name')
      for (const _ of names) count()
      if (source === 'registrar') return { domains: await mapRegistrarErrors(search.check(names)), ...origin }
      if (names.length > domainLimits.rdap) {
        throw new AppError('request/invalid', `\`domains\` must have at most ${domainLimits.rdap} names for RDAP.`)
      }
      return { domains: await worldSearch.check(names) }
    }),
    createOpenEndpoint(listDomainPrices, async ({ query: { tlds } }) => {
      const all = await mapRegistrarErrors(registrar.prices())
      const prices = tlds && tlds.length > 0 ? all.filter(({ tld }) => tlds.includes(tld)) : all
      const pricing = prices.map(({ tld, registration, renewal, transfer }) => ({
        ...{ tld, registration: registration / 100, renewal: renewal / 100, transfer: transfer / 100 },
        currency: 'USD' as const,
      }))
      const nameservers: string[] | undefined = registrar.nameservers && [...registrar.nameservers]
      return {
        ...{ pricing, registrar: registrar.title, test: registrar.isTest, dns_server: dnsServer ?? null },
        ...(nameservers && { nameservers }),
      }
    }),
  ]
}

/** Creates the routes of registered domains and of their quotes. */
function createRegistrationRoutes(options: DomainRouteOptions): Endpoint[] {
  const { registrar, quotes, assertSaleEnabled, domains, orphans, recordForAccount, now } = options
  return [
    createEndpoint(listDomains, async (_, { caller }) => {
      const orphaned = await orphans.list(caller.accountId)
      const all = (await domains.list(caller.accountId)).map((row) => toWire(row, { registrar, orphaned }))
      const isStale = all.some(({ source }) => source === 'stale')
      const oldest = all.map(({ as_of }) => as_of).sort()[0] ?? toIsoTime(now())
      return { domains: all, source: isStale ? 'stale' : 'cache', as_of: oldest }
    }),
    createEndpoint(getDomain, async ({ params }, { caller: { accountId } }) => {
      const row = await domains.get(accountId, params.domain)
      return toWire(row, { registrar, orphaned: await orphans.list(row.accountId) })
    }),
    createEndpoint(setDomainPrivacy, async ({ params: { domain }, body: { enabled } }, { caller: { accountId } }) => {
      const { privacy } = await domains.change(accountId, domain, {
        work: (registrar) => registrar.setPrivacy(domain, enabled),
        isDone: (it) => it.privacy === enabled,
      })
      recordForAccount(accountId, {
        type: 'name.changed',
        domain,
        description: `${enabled ? 'Hid' : 'Published'} the owner of ${domain}`,
      })
      return { success: true, domain, privacy }
    }),
    createEndpoint(setDomainLock, async ({ params: { domain }, body: { enabled } }, { caller: { accountId } }) => {
      const { locked } = await domains.change(accountId, domain, {
        work: (registrar) => registrar.setLocked(domain, enabled),
        isDone: (it) => it.locked === enabled,
      })
      recordForAccount(accountId, {
        type: 'name.changed',
        domain,
        description: `${enabled ? 'Locked' : 'Unlocked'} ${domain}`,
      })
      return { success: true, domain, locked }
    }),
    createEndpoint(setNameservers, async ({ params: { domain }, body }, { caller: { accountId } }) => {
      const changed = await domains.change(accountId, domain, {
        work: (registrar) => registrar.setNameservers(domain, body.nameservers),
        isDone: (domainRow) => domainRow.nameservers.join() === body.nameservers.join(),
      })
      recordForAccount(accountId, { type: 'name.changed', domain, description: `Set the nameservers of ${domain}` })
      const nameservers: string[] = [...changed.nameservers]
      return { success: true, domain, nameservers }
    }),
    createEndpoint(quoteDomain, async ({ body: { domain, years, type } }, { caller: { accountId } }) => {
      assertSaleEnabled()
      return quoteToWire(
        await quotes.make(accountId, { domain: requireDomainField(domain).ascii, years, type }),
        registrar,
      )
    }),
    createEndpoint(getAuthCode, async ({ params: { domain } }, { caller: { accountId } }) => {
      await domains.requireOwned(accountId, domain)
      const { code } = await mapRegistrarErrors(registrar.authCode(domain))
      recordForAccount(accountId, { type: 'name.changed', domain, description: `Read the auth code of ${domain}` })
      return { success: true, domain, auth_code: code }
    }),
  ]
}

type WireOptions = { registrar: Registrar; orphaned: readonly OrphanedDomain[] }

function toWire(row: CachedDomain, { registrar, orphaned }: WireOptions): Domain {
  return {
    ...{ domain: row.name, name: row.name, unicode: domainToUnicode(row.name), status: row.status },
    ...{ registered_at: toIsoTime(row.registeredAtMs), expires_at: toIsoTime(row.expiresAtMs) },
    ...{ expiresAt: toIsoTime(row.expiresAtMs), auto_renew: row.autoRenew, privacy: row.privacy },
    ...{ nameservers: [...row.nameservers], locked: row.locked, registrar: registrar.title },
    orphaned_names: listNamesUnder(row.name, orphaned).map(orphanToWire),
    left_at: row.leftAtMs === null ? null : toIsoTime(row.leftAtMs),
    ...{ source: row.source, as_of: toIsoTime(row.readAtMs) },
  }
}

function quoteToWire(quote: DomainQuote, registrar: Registrar) {
  return {
    ...{ quote_id: quote.id, domain: quote.domain, unicode: domainToUnicode(quote.domain), type: quote.type },
    ...{ years: quote.years, premium: quote.premium, amount: quote.amountCents / 100, currency: 'USD' as const },
    ...{ first_year: quote.registrationCents / 100, later_year: quote.renewalCents / 100 },
    ...{ registrar: registrar.title, test: registrar.isTest, expires_at: toIsoTime(quote.expiresAtMs) },
  }
}

const statuses = { leased: 'pending', asked: 'pending', done: 'completed', failed: 'failed' } as const

function orderToWire({ id, domain, type, amountCents, state, createdAtMs }: Order) {
  return {
    ...{ id, domainId: domain, type, amount: amountCents / 100, currency: 'USD' as const },
    ...{ status: statuses[state], createdAt: toIsoTime(createdAtMs) },
  }
}
