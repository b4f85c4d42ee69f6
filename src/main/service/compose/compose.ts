import { openDataFolder } from '#platform/dataFolder.ts'
import { Scope } from '#platform/scope.ts'
import { checkListening, localUrl, requireOwnName } from '../http/listening.ts'
import { removedThingAnnouncer } from '../references/removedThingAnnouncer.ts'
import { removedThingRepository } from '../references/removedThingRepository.ts'
import { creditParts, ledgerParts } from './creditParts.ts'
import { domainParts } from './domainParts.ts'
import { type HttpParts, httpParts } from './httpParts.ts'
import { identityParts } from './identityParts.ts'
import { type InferenceParts, inferenceParts } from './inferenceParts.ts'
import { paymentParts } from './paymentParts.ts'
import { sandboxParts } from './sandboxParts.ts'
import { serviceGround } from './serviceGround.ts'
import type { ServiceOptions } from './serviceOptions.ts'

export type RunningService = {
  url: string
  port: number
  ownerKeyFile: string
  /** What the application hands over; in memory only. */
  models: Pick<InferenceParts, 'setProviderKey' | 'setLocalServers' | 'setStopped'>
  /** Of its DNS server; undefined where it has none. */
  dnsPort: number | undefined
  /** Replaces the certificate for new connections. @throws Error if it is invalid; the current one stays in use */
  setCertificate(pem: { cert: string; key: string }): void
  /** Lets requests under way end, for a while; the sandbox host goes on. */
  close(): Promise<void>
}

/** @throws AppError `listen/insecure`, `listen/failed`, `data/unusable`, `data/newer`, `data/unwritable`, `config/invalid` */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { beyondLoopback } = checkListening({
    listen: options.listen,
    tls: options.tls !== undefined,
    insecureBehindProxy: options.insecureBehindProxy ?? false,
  })
  requireOwnName(options, beyondLoopback)
  const scope = new Scope()
  try {
    await openDataFolder(options.dataDir)
    const ground = serviceGround(options, scope)
    let http: HttpParts | undefined
    const announceRemovals = removedThingAnnouncer(removedThingRepository(ground.database), ground.events.publish)
    const onPortsChanged = () => {
      ground.principals.endAbsent() // tokens go with their port, links with their sandbox
      http?.checkPorts()
      announceRemovals()
    }
    const ledger = await ledgerParts(ground)
    const identity = identityParts(ground, { spentToday: ledger.credits.spentToday })
    const money = await creditParts(ground, { ledger, identity })
    const payments = await paymentParts(ground, { ledger, money, identity })
    const models = inferenceParts(ground, money)
    const names = await domainParts(ground, { payments, targets: () => machines.domainTargets, announceRemovals })
    const machines = sandboxParts(ground, {
      onPortsChanged,
      billing: money.billing,
      ownsDomain: names.owns,
      orphans: names.orphans,
    })
    http = httpParts(ground, { beyondLoopback, identity, machines, money, models, payments, names })
    await payments.start()

    const port = await http.server.listen(options.listen, http.end)
    const url = localUrl({ host: options.listen.host, port }, http.scheme)
    ground.address.listensAt(url)
    machines.start()
    options.log.info('the service listens', { url })
    const { ownerKeyFile } = identity
    const { dnsPort } = names
    return {
      url,
      port,
      dnsPort,
      ownerKeyFile,
      models,
      setCertificate: http.server.setCertificate,
      close: () => scope.close(),
    }
  } catch (failure) {
    await scope.close()
    throw failure
  }
}
