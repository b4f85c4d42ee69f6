import { domainToUnicode } from 'node:url'
import type { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import {
  addDnsRecord,
  changeDnsRecord,
  type DnsRecord,
  listDnsRecords,
  listOrphanedRecords,
  removeDnsRecord,
  removeOrphanedRecords,
} from '#shared/contract/dnsRecords.ts'
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
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Endpoint, endpoint, openEndpoint } from '../base/endpoint.ts'
import { requireDomainField } from './domainName.ts'
import type { DomainOrders } from './domainOrders.ts'
import type { DomainQuotes } from './domainQuotes.ts'
import type { DomainSearch } from './domainSearch.ts'
import type { CachedDomain, Domains } from './domains.ts'
import type { Order } from './orderRepository.ts'
import type { OrphanedDomain } from './orphanedDomainRepository.ts'
import { listNamesUnder, type OrphanedDomains } from './orphanedDomains.ts'
import type { DomainQuote } from './quoteRepository.ts'
import { mapRegistrarErrors } from './registrarErrors.ts'
import type { Registrar, RegistrarRecord } from './registrars/registrar.ts'
import type { Zones } from './zones.ts'

export function createDomainRoutes(options: {
  registrar: Registrar
  search: DomainSearch
  /** Lookups by RDAP. */
  worldSearch: Pick<DomainSearch, 'check'>
  quotes: Pick<DomainQuotes, 'make'>
  /** @throws AppError where names are not sold for the money that this service takes */
  assertSaleEnabled: () => void
  domains: Domains
  orphans: OrphanedDomains
  orders: Pick<DomainOrders, 'list'>
  zones: Zones
  /** `HOST:PORT` where DNS is answered for a test registry; undefined: nowhere. */
  dnsServer: string | undefined
  recordForAccount: ActivityLog['recordForAccount']
  now: () => number
}): Endpoint[] {
  const {
    registrar,
    search,
    worldSearch,
    quotes,
    assertSaleEnabled,
    domains,
    orphans,
    orders,
    zones,
    dnsServer,
    recordForAccount,
    now,
  } = options
  const toWire = (row: CachedDomain, orphaned = orphans.list(row.accountId)): Domain => ({
    ...{ domain: row.name, name: row.name, unicode: domainToUnicode(row.name), status: row.status },
    ...{ registered_at: toIsoTime(row.registeredAtMs), expires_at: toIsoTime(row.expiresAtMs) },
    ...{ expiresAt: toIsoTime(row.expiresAtMs), auto_renew: row.autoRenew, privacy: row.privacy },
    ...{ nameservers: [...row.nameservers], locked: row.locked, registrar: registrar.title },
    orphaned_names: listNamesUnder(row.name, orphaned).map(orphanToWire),
    left_at: row.leftAtMs === null ? null : toIsoTime(row.leftAtMs),
    ...{ source: row.source, as_of: toIsoTime(row.readAtMs) },
  })
  const quoteToWire = (quote: DomainQuote) => ({
    ...{ quote_id: quote.id, domain: quote.domain, unicode: domainToUnicode(quote.domain), type: quote.type },
    ...{ years: quote.years, premium: quote.premium, amount: quote.amountCents / 100, currency: 'USD' as const },
    ...{ first_year: quote.registrationCents / 100, later_year: quote.renewalCents / 100 },
    ...{ registrar: registrar.title, test: registrar.isTest, expires_at: toIsoTime(quote.expiresAtMs) },
  })

  const asked = { registrar: registrar.title, test: registrar.isTest }
  return [
    openEndpoint(searchDomains, async ({ query: { q, query = q ?? '', tlds, suggestions } }, { count }) => {
      for (let names = tlds?.length ?? defaultTlds.length; names > 0; names -= 1) count('name')
      return { query, ...(await mapRegistrarErrors(search.search({ query, tlds, suggestions }))), ...asked }
    }),
    openEndpoint(checkDomains, async ({ query: { domains: names, source } }, { count }) => {
      for (const _ of names) count('name')
      if (source === 'registrar') return { domains: await mapRegistrarErrors(search.check(names)), ...asked }
      if (names.length > domainLimits.rdap) {
        throw new AppError('request/invalid', `\`domains\` must have at most ${domainLimits.rdap} names for RDAP.`)
      }
      return { domains: await worldSearch.check(names) }
    }),
    openEndpoint(listDomainPrices, async ({ query: { tlds } }) => {
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
    endpoint(listDomains, (_, { caller }) => {
      const orphaned = orphans.list(caller.accountId)
      const all = domains.list(caller.accountId).map((row) => toWire(row, orphaned))
      const isStale = all.some(({ source }) => source === 'stale')
      const oldest = all.map(({ as_of }) => as_of).sort()[0] ?? toIsoTime(now())
      return { domains: all, source: isStale ? 'stale' : 'cache', as_of: oldest }
    }),
    endpoint(getDomain, ({ params }, { caller }) => toWire(domains.get(caller.accountId, params.domain))),
    endpoint(setDomainPrivacy, async ({ params: { domain }, body: { enabled } }, { caller: { accountId } }) => {
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
    endpoint(setDomainLock, async ({ params: { domain }, body: { enabled } }, { caller: { accountId } }) => {
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
    endpoint(setNameservers, async ({ params: { domain }, body }, { caller: { accountId } }) => {
      const changed = await domains.change(accountId, domain, {
        work: (registrar) => registrar.setNameservers(domain, body.nameservers),
        isDone: (it) => it.nameservers.join() === body.nameservers.join(),
      })
      recordForAccount(accountId, { type: 'name.changed', domain, description: `Set the nameservers of ${domain}` })
      const nameservers: string[] = [...changed.nameservers]
      return { success: true, domain, nameservers }
    }),
    endpoint(quoteDomain, async ({ body: { domain, years, type } }, { caller: { accountId } }) => {
      assertSaleEnabled()
      return quoteToWire(await quotes.make(accountId, { domain: requireDomainField(domain).ascii, years, type }))
    }),
    endpoint(getAuthCode, async ({ params: { domain } }, { caller: { accountId } }) => {
      domains.requireOwned(accountId, domain)
      const { code } = await mapRegistrarErrors(registrar.authCode(domain))
      recordForAccount(accountId, { type: 'name.changed', domain, description: `Read the auth code of ${domain}` })
      return { success: true, domain, auth_code: code }
    }),
    endpoint(listDnsRecords, async ({ params, query }, { caller: { accountId } }) => {
      const zone = await zones.list({ accountId, name: params.domain }, query)
      const { source, hash } = zone
      return { records: zone.records.map(recordToWire), source, as_of: toIsoTime(zone.readAtMs), hash }
    }),
    endpoint(addDnsRecord, async ({ params: { domain }, body }, { caller: { accountId } }) => {
      const record = await zones.add({ accountId, name: domain }, body)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Added ${formatRecord(record)} to ${domain}`,
      })
      return recordToWire(record)
    }),
    endpoint(changeDnsRecord, async ({ params: { domain, recordId }, body }, { caller: { accountId } }) => {
      const record = await zones.change({ accountId, name: domain }, recordId, body)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Changed ${formatRecord(record)} of ${domain}`,
      })
      return { success: true, ...recordToWire(record) }
    }),
    endpoint(removeDnsRecord, async ({ params: { domain, recordId } }, { caller: { accountId } }) => {
      const record = await zones.remove({ accountId, name: domain }, recordId)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Deleted ${formatRecord(record)} of ${domain}`,
      })
      return { success: true, recordId }
    }),
    endpoint(listOrphanedRecords, async ({ params: { domain } }, { caller: { accountId } }) => {
      domains.requireOwned(accountId, domain)
      const records = (await orphans.records({ accountId, name: domain })).map(recordToWire)
      return { names: listNamesUnder(domain, orphans.list(accountId)).map(orphanToWire), records }
    }),
    endpoint(removeOrphanedRecords, async ({ params: { domain } }, { caller: { accountId } }) => {
      domains.requireOwned(accountId, domain)
      const removed = await orphans.removeRecords({ accountId, name: domain })
      for (const record of removed) {
        const description = `Deleted ${formatRecord(record)} of ${domain}, which pointed to a deleted sandbox`
        recordForAccount(accountId, { type: 'dns.changed', domain, description })
      }
      return { success: true, removed: removed.map(recordToWire) }
    }),
    endpoint(listDomainTransactions, (_, { caller }) => ({
      transactions: orders.list(caller.accountId).map(orderToWire),
    })),
  ]
}

const statuses = { leased: 'pending', asked: 'pending', done: 'completed', failed: 'failed' } as const

function orderToWire({ id, domain, type, amountCents, state, createdAtMs }: Order) {
  return {
    ...{ id, domainId: domain, type, amount: amountCents / 100, currency: 'USD' as const },
    ...{ status: statuses[state], createdAt: toIsoTime(createdAtMs) },
  }
}

function orphanToWire({ domain, sandboxId, sandboxName }: OrphanedDomain) {
  return { name: domain, sandbox_id: sandboxId, sandbox_name: sandboxName }
}

function formatRecord({ type, host }: RegistrarRecord): string {
  return `${type} ${host}`
}

function recordToWire({ id, type, host, value, ttl, distance }: RegistrarRecord): z.infer<typeof DnsRecord> {
  return { recordId: id, id, record_id: id, type, host, value, ttl, ...(distance !== null && { distance }) }
}
