import { join } from 'node:path'
import { createHttpClient, type HttpClient } from '#platform/http/httpClient.ts'
import { formatHostAndPort } from '#platform/net/listenAddress.ts'
import { installFolder } from '#platform/program/programFile.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Query, Store } from '#storage/store.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { findRegistrableDomain } from '../domains/domainName.ts'
import { createDomainOrders, type DomainOrders, describeOrder } from '../domains/domainOrders.ts'
import { createDomainQuotes } from '../domains/domainQuotes.ts'
import { createDomainRepository } from '../domains/domainRepository.ts'
import { createDomainRoutes } from '../domains/domainRoutes.ts'
import { createDomainSales } from '../domains/domainSales.ts'
import { createDomainSearch } from '../domains/domainSearch.ts'
import { type Domains, createDomains as ownDomains } from '../domains/domains.ts'
import { type DomainTargets, linkDomain } from '../domains/linkDomain.ts'
import { createOrphanedDomains, type OrphanedDomains } from '../domains/orphanedDomains.ts'
import { createQuoteRepository } from '../domains/quoteRepository.ts'
import { readRdapBootstrap } from '../domains/rdap/rdapBootstrap.ts'
import { createRdapLookup } from '../domains/rdap/rdapLookup.ts'
import { startDnsServer } from '../domains/registrars/local/dns/dnsServer.ts'
import { createLocalRegistry } from '../domains/registrars/local/localRegistry.ts'
import { readRegistryPrices } from '../domains/registrars/local/registryPrices.ts'
import { registryRepository } from '../domains/registrars/local/registryRepository.ts'
import { openRegistrar } from '../domains/registrars/openRegistrar.ts'
import type { Registrar } from '../domains/registrars/registrar.ts'
import { findSaleRefusal, type SaleMoney } from '../domains/saleMoney.ts'
import { createSearchAvailability } from '../domains/searchAvailability.ts'
import { resolveServiceAddresses } from '../domains/serviceAddresses.ts'
import { createZones } from '../domains/zones.ts'
import { answerRepository } from '../idempotency/answerRepository.ts'
import { toDnsRecordKey } from '../idempotency/idempotentResponses.ts'
import type { PaymentModule } from './composePayments.ts'
import type { ServiceContext } from './serviceContext.ts'
import type { ServiceOptions } from './serviceOptions.ts'

export type DomainModule = {
  capabilities: readonly string[]
  domains: Domains
  orders: DomainOrders
  endpoints: readonly Endpoint[]
  /**
   * Whether an account registered this domain or its parent here. Names of the test registry belong to others in
   * the public DNS, so they count only on private services.
   */
  owns(query: Query, accountId: AccountId, domain: string): Promise<boolean>
  /** Domains that still point to deleted sandboxes. */
  orphans: OrphanedDomains
  /** Port of the DNS server for zones of the test registry. Undefined if DNS is not served. */
  dnsPort: number | undefined
}

/** The longest response contains the prices of all top-level domains. */
const maxAnswerBytes = 2_000_000

type DomainOptions = {
  payments: Pick<PaymentModule, 'paymentGate'>
  /** Available after sandboxes are composed. */
  targets: () => DomainTargets
  announceRemovals: () => void
}

/** Composes domain registration and DNS. @throws AppError `listen/failed`, `config/invalid` */
export async function composeDomains(
  context: ServiceContext,
  { payments, targets, announceRemovals }: DomainOptions,
): Promise<DomainModule> {
  const { options, store, clock, events, activity, callers, scope } = context
  const { now } = options
  const log = options.log.forArea('domains')
  const http = scope.own(createHttpClient({ maxAnswerBytes }), (it) => it.close())
  const registrar = createRegistrar(options, { store, http })
  const isCounted = options.registrar !== undefined && options.registrar.kind !== 'local'
  const searched = isCounted ? createSearchAvailability({ registrar, now }) : registrar
  const records = createDomainRepository(registrar.id)
  const onChanged = (accountId: Parameters<typeof events.publish>[0]): void => {
    events.publish(accountId, { type: 'domains.changed' })
    announceRemovals()
  }
  const domains = ownDomains({ store, records, registrar, now, log, onChanged })
  scope.own(domains, (it) => it.close())
  const orders = createDomainOrders({
    ...{ store, domains, registrar, log },
    onDone: ({ accountId, ...order }) => activity.recordForAccount(accountId, describeOrder(order)),
    now: clock.steadyMs,
  })
  await orders.recover()
  const quotes = createDomainQuotes({
    store,
    records: createQuoteRepository(registrar.id),
    domains,
    registrar,
    now: clock.steadyMs,
  })
  const refusal = () => findSaleRefusal(createSaleMoney(options), registrar.title)
  const assertSaleEnabled = (): void => {
    const reason = refusal()
    if (reason) throw reason
  }
  const bootstrap = readRdapBootstrap(options.rdapBootstrapFile ?? join(installFolder, 'resources', 'rdap.json'))
  const listen = registrar.isTest ? options.dnsListen : undefined
  const findZone = (name: string) => registryRepository.findZone(store.read, name)
  const dns = listen && scope.own(await startDnsServer(listen, findZone), (it) => it.close())
  const ownZones = createZones({
    ...{ store, records, domains, registrar, now },
    onChanged: ({ accountId }) => onChanged(accountId),
    onRemoved: (domain, id) => store.write((tx) => answerRepository.removeCreated(tx, toDnsRecordKey({ domain, id }))),
  })
  const pointing = linkDomain({ targets, zones: ownZones, sandboxHost: options.sandboxHost, log })
  const isAtHome = options.sandboxHost === undefined
  const owns: DomainModule['owns'] = async (query, accountId, name) => {
    const domain = !registrar.isTest || isAtHome ? findRegistrableDomain(name) : undefined
    const row = domain === undefined ? undefined : await records.find(query, domain)
    return row?.accountId === accountId && row.status !== 'expired' && row.leftAtMs === null
  }
  const orphans = createOrphanedDomains({
    store,
    zones: ownZones,
    addresses: () => resolveServiceAddresses(options.sandboxHost),
    sandboxHost: options.sandboxHost,
    ownsDomain: owns,
    recordForAccount: activity.recordForAccount,
    onChanged,
  })
  return {
    domains,
    orders,
    owns,
    orphans,
    dnsPort: dns?.port,
    capabilities: ['domains', 'dns'],
    endpoints: callers.bindEndpoints([
      ...createDomainSales({
        ...{
          paymentGate: payments.paymentGate,
          quotes,
          orders,
          assertSaleEnabled,
          pointing,
        },
        isOffered: refusal() === undefined,
      }),
      ...createDomainRoutes({
        ...{
          registrar,
          search: createDomainSearch(searched),
          domains,
          orphans,
          orders,
          quotes,
          assertSaleEnabled,
          now,
        },
        worldSearch: createDomainSearch(createRdapLookup({ bootstrap, http, now })),
        dnsServer: listen && dns && formatHostAndPort({ host: listen.host, port: dns.port }),
        zones: ownZones,
        recordForAccount: activity.recordForAccount,
      }),
    ]),
  }
}

function createRegistrar(
  { registrar = { kind: 'local' }, now }: ServiceOptions,
  { store, http }: { store: Store; http: HttpClient },
): Registrar {
  if (registrar.kind !== 'local') return openRegistrar(registrar, { http, now })
  const prices = readRegistryPrices(join(installFolder, 'resources', 'registry.json'))
  return createLocalRegistry({ store, prices, now })
}

function createSaleMoney({ registrar, payments }: ServiceOptions): SaleMoney {
  return {
    namesAreReal: registrar !== undefined && registrar.kind !== 'local' && registrar.isReal,
    moneyIsReal: payments && payments.facilitator.kind !== 'test-ledger',
  }
}
