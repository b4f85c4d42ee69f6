import { join } from 'node:path'
import { hostAndPort } from '../platform/listenAddress.ts'
import { installFolder } from '../platform/programFile.ts'
import { startDnsServer } from './domains/dns/dnsServer.ts'
import { type DomainOrders, domainOrders } from './domains/domainOrders.ts'
import { domainRepository } from './domains/domainRepository.ts'
import { domainRoutes } from './domains/domainRoutes.ts'
import { domainSales } from './domains/domainSales.ts'
import { domainSearch } from './domains/domainSearch.ts'
import { type Domains, domains as ownDomains } from './domains/domains.ts'
import { orderRepository } from './domains/orderRepository.ts'
import { localRegistry } from './domains/registrars/local/localRegistry.ts'
import { readRegistryPrices } from './domains/registrars/local/registryPrices.ts'
import { registryRepository } from './domains/registrars/local/registryRepository.ts'
import { zones } from './domains/zones.ts'
import type { Endpoint } from './endpoint.ts'
import type { PaymentParts } from './paymentParts.ts'
import type { ServiceGround } from './serviceGround.ts'

export type DomainParts = {
  domains: Domains
  orders: DomainOrders
  endpoints: readonly Endpoint[]
  /** Where DNS is answered for the zones of the test registry; undefined: nowhere. */
  dnsPort: number | undefined
}

type Given = { payments: Pick<PaymentParts, 'till'> }

/** Names and their DNS. @throws AppError `listen/failed`, `config/invalid` */
export async function domainParts(ground: ServiceGround, { payments }: Given): Promise<DomainParts> {
  const { options, database, events, activity, callers, scope } = ground
  const { now } = options
  const log = options.log.of('domains')
  const registry = registryRepository(database)
  const prices = readRegistryPrices(join(installFolder, 'resources', 'registry.json'))
  const registrar = localRegistry({ records: registry, prices, now })
  const records = domainRepository(database)
  const onChanged = (accountId: Parameters<typeof events.publish>[0]): void =>
    events.publish(accountId, { type: 'domains.changed' })
  const domains = ownDomains({ records, registrar, now, log, onChanged })
  scope.own(domains, (it) => it.close())
  const orders = domainOrders({ records: orderRepository(database), domains, registrar, now, log })
  await orders.recover()
  const listen = options.dnsListen
  const dns = listen && scope.own(await startDnsServer(listen, registry.zoneOf), (it) => it.close())
  return {
    domains,
    orders,
    dnsPort: dns?.port,
    endpoints: callers.known([
      ...domainSales({ till: payments.till, registrar, domains, orders, noteAccount: activity.noteAccount }),
      ...domainRoutes({
        ...{ registrar, search: domainSearch(registrar), domains, orders, now },
        dnsServer: listen && dns && hostAndPort({ host: listen.host, port: dns.port }),
        zones: zones({ records, domains, registrar, now, onChanged: ({ accountId }) => onChanged(accountId) }),
        noteAccount: activity.noteAccount,
      }),
    ]),
  }
}
