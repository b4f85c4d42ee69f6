import { join } from 'node:path'
import { parse } from 'tldts'
import { type HttpClient, httpClient } from '#platform/httpClient.ts'
import { hostAndPort } from '#platform/listenAddress.ts'
import { installFolder } from '#platform/programFile.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { startDnsServer } from '../domains/dns/dnsServer.ts'
import { type DomainOrders, domainOrders } from '../domains/domainOrders.ts'
import { domainQuotes } from '../domains/domainQuotes.ts'
import { domainRepository } from '../domains/domainRepository.ts'
import { domainRoutes } from '../domains/domainRoutes.ts'
import { domainSales } from '../domains/domainSales.ts'
import { domainSearch } from '../domains/domainSearch.ts'
import { type Domains, domains as ownDomains } from '../domains/domains.ts'
import { orderRepository } from '../domains/orderRepository.ts'
import { orphanedDomainRepository } from '../domains/orphanedDomainRepository.ts'
import { createOrphanedDomains, type OrphanedDomains } from '../domains/orphanedDomains.ts'
import { type DomainTargets, pointedDomain } from '../domains/pointedDomain.ts'
import { quoteRepository } from '../domains/quoteRepository.ts'
import { readRdapBootstrap } from '../domains/rdap/rdapBootstrap.ts'
import { rdapLookup } from '../domains/rdap/rdapLookup.ts'
import { localRegistry } from '../domains/registrars/local/localRegistry.ts'
import { readRegistryPrices } from '../domains/registrars/local/registryPrices.ts'
import { type RegistryRepository, registryRepository } from '../domains/registrars/local/registryRepository.ts'
import { openRegistrar } from '../domains/registrars/openRegistrar.ts'
import type { Registrar } from '../domains/registrars/registrar.ts'
import { type SaleMoney, saleRefusal } from '../domains/saleMoney.ts'
import { createSearchAvailability } from '../domains/searchAvailability.ts'
import { serviceAddresses } from '../domains/serviceAddresses.ts'
import { zones } from '../domains/zones.ts'
import type { PaymentParts } from './paymentParts.ts'
import type { ServiceGround } from './serviceGround.ts'
import type { ServiceOptions } from './serviceOptions.ts'

export type DomainParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  domains: Domains
  orders: DomainOrders
  endpoints: readonly Endpoint[]
  /**
   * Whether an account registered a domain here, or the one that it is part of. Names of the test registry are somebody
   * else's in the world: they count only where the world does not come.
   */
  owns(accountId: AccountId, domain: string): boolean
  /** Domains that deleted sandboxes left behind. */
  orphans: OrphanedDomains
  /** Where DNS is answered for the zones of the test registry; undefined: nowhere. */
  dnsPort: number | undefined
}

/** Prices of all top-level domains are the longest. */
const mostAnswerBytes = 2_000_000

type Given = {
  payments: Pick<PaymentParts, 'till'>
  /** Known once sandboxes are. */
  targets: () => DomainTargets
  announceRemovals: () => void
}

/** Names and their DNS. @throws AppError `listen/failed`, `config/invalid` */
export async function domainParts(
  ground: ServiceGround,
  { payments, targets, announceRemovals }: Given,
): Promise<DomainParts> {
  const { options, database, clock, events, activity, callers, scope } = ground
  const { now } = options
  const log = options.log.of('domains')
  const registry = registryRepository(database)
  const http = scope.own(httpClient({ maxAnswerBytes: mostAnswerBytes }), (it) => it.close())
  const registrar = registrarOf(options, { registry, http })
  const isCounted = options.registrar !== undefined && options.registrar.kind !== 'local'
  const searched = isCounted ? createSearchAvailability({ registrar, now }) : registrar
  const records = domainRepository(database, registrar.id)
  const onChanged = (accountId: Parameters<typeof events.publish>[0]): void => {
    events.publish(accountId, { type: 'domains.changed' })
    announceRemovals()
  }
  const domains = ownDomains({ records, registrar, now, log, onChanged })
  scope.own(domains, (it) => it.close())
  const orders = domainOrders({ records: orderRepository(database), domains, registrar, now: clock.steadyMs, log })
  await orders.recover()
  const quotes = domainQuotes({
    records: quoteRepository(database, registrar.id),
    domains,
    registrar,
    now: clock.steadyMs,
  })
  const refusal = () => saleRefusal(saleMoney(options), registrar.title)
  const needSale = (): void => {
    const reason = refusal()
    if (reason) throw reason
  }
  const bootstrap = readRdapBootstrap(options.rdapBootstrapFile ?? join(installFolder, 'resources', 'rdap.json'))
  const listen = registrar.isTest ? options.dnsListen : undefined
  const dns = listen && scope.own(await startDnsServer(listen, registry.zoneOf), (it) => it.close())
  const ownZones = zones({ records, domains, registrar, now, onChanged: ({ accountId }) => onChanged(accountId) })
  const pointing = pointedDomain({ targets, zones: ownZones, sandboxHost: options.sandboxHost, log })
  const isAtHome = options.sandboxHost === undefined
  const owns: DomainParts['owns'] = (accountId, name) => {
    const { domain } = parse(name, { allowPrivateDomains: false })
    const row = domain !== null && (!registrar.isTest || isAtHome) ? records.find(domain) : undefined
    return row?.accountId === accountId && row.status !== 'expired' && row.leftAtMs === null
  }
  const orphans = createOrphanedDomains({
    records: orphanedDomainRepository(database),
    zones: ownZones,
    addresses: () => serviceAddresses(options.sandboxHost),
    sandboxHost: options.sandboxHost,
    ownsDomain: owns,
    noteAccount: activity.noteAccount,
    onChanged,
  })
  return {
    domains,
    orders,
    owns,
    orphans,
    dnsPort: dns?.port,
    capabilities: ['domains', 'dns'],
    endpoints: callers.known([
      ...domainSales({
        ...{ till: payments.till, quotes, orders, needSale, pointing, noteAccount: activity.noteAccount },
        isOffered: refusal() === undefined,
      }),
      ...domainRoutes({
        ...{ registrar, search: domainSearch(searched), domains, orphans, orders, quotes, needSale, now },
        worldSearch: domainSearch(rdapLookup({ bootstrap, http, now })),
        dnsServer: listen && dns && hostAndPort({ host: listen.host, port: dns.port }),
        zones: ownZones,
        noteAccount: activity.noteAccount,
      }),
    ]),
  }
}

function registrarOf(
  { registrar = { kind: 'local' }, now }: ServiceOptions,
  { registry, http }: { registry: RegistryRepository; http: HttpClient },
): Registrar {
  if (registrar.kind !== 'local') return openRegistrar(registrar, { http, now })
  const prices = readRegistryPrices(join(installFolder, 'resources', 'registry.json'))
  return localRegistry({ records: registry, prices, now })
}

function saleMoney({ registrar, payments }: ServiceOptions): SaleMoney {
  return {
    namesAreReal: registrar !== undefined && registrar.kind !== 'local' && registrar.isReal,
    moneyIsReal: payments && payments.facilitator.kind !== 'test-ledger',
  }
}
