import { openDataFolder } from '#platform/files/dataFolder.ts'
import { Scope } from '#platform/program/scope.ts'
import { checkListening, formatLocalUrl, requireOwnName } from '../http/listening.ts'
import { createRemovedThingAnnouncer } from '../references/removedThingAnnouncer.ts'
import { composeCredits, composeLedger } from './composeCredits.ts'
import { composeDomains } from './composeDomains.ts'
import { composeHttp, type HttpModule } from './composeHttp.ts'
import { composeIdentity } from './composeIdentity.ts'
import { composeInference, type InferenceModule } from './composeInference.ts'
import { composePayments } from './composePayments.ts'
import { composeSandboxes } from './composeSandboxes.ts'
import { openServiceContext } from './serviceContext.ts'
import type { ServiceOptions } from './serviceOptions.ts'

export type RunningService = {
  url: string
  port: number
  ownerKeyFile: string
  /** Settings that the application sends. They stay in memory. */
  models: Pick<InferenceModule, 'setProviderKey' | 'setLocalServers' | 'setStopped'>
  /** Port of the DNS server. Undefined if DNS is not served. */
  dnsPort: number | undefined
  /**
   * Replaces the certificate for new connections.
   * @throws Error if the certificate is invalid; the current one stays in use
   */
  setCertificate(pem: { cert: string; key: string }): void
  /** Drains requests in progress for a limited time. The sandbox host keeps running. */
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
    const context = await openServiceContext(options, scope)
    let http: HttpModule | undefined
    const removals = scope.own(
      await createRemovedThingAnnouncer({
        ...{ read: context.store.read, publish: context.events.publish },
        log: options.log.forArea('references'),
      }),
      (it) => it.close(),
    )
    const announceRemovals = () => void removals.announce()
    const checkAccess = async () => {
      await context.principals.endAbsent() // port tokens end with their port, links with their sandbox
      await http?.checkPorts()
    }
    const onPortsChanged = () => {
      checkAccess().catch((error: unknown) => options.log.error('failed to end access to ports', { error }))
      announceRemovals()
    }
    const ledger = await composeLedger(context)
    const identity = await composeIdentity(context, { sumSpentToday: ledger.credits.sumSpentToday })
    const credits = await composeCredits(context, { ledger, identity })
    const payments = await composePayments(context, { ledger, credits, identity })
    const inference = composeInference(context, credits)
    const domains = await composeDomains(context, {
      ...{ payments, announceRemovals },
      targets: () => sandboxes.domainTargets,
    })
    const sandboxes = composeSandboxes(context, {
      onPortsChanged,
      billing: credits.billing,
      ownsDomain: domains.owns,
      orphans: domains.orphans,
      isSandboxLeased: payments.isSandboxLeased,
    })
    http = composeHttp(context, { beyondLoopback, identity, sandboxes, credits, inference, payments, domains })
    await payments.start()

    const port = await http.server.listen(options.listen, http.end)
    const url = formatLocalUrl({ host: options.listen.host, port }, http.scheme)
    context.address.listensAt(url)
    sandboxes.start()
    options.log.info('service listening', { url })
    const { ownerKeyFile } = identity
    const { dnsPort } = domains
    return {
      url,
      port,
      dnsPort,
      ownerKeyFile,
      models: inference,
      setCertificate: http.server.setCertificate,
      close: () => scope.close(),
    }
  } catch (error) {
    await scope.close()
    throw error
  }
}
