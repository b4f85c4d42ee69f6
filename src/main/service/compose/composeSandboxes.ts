import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { findHostProcess } from '#platform/hostProcess.ts'
import { getHostPidFile } from '#platform/hostSocket.ts'
import { AppError } from '#shared/appError.ts'
import { describeWrite } from '#shared/contract/activityTexts.ts'
import { type AccountId, SandboxId } from '#shared/ids.ts'
import { createAccountRepository } from '../accounts/accountRepository.ts'
import { createActivityRoutes } from '../activity/activityRoutes.ts'
import type { Caller, Endpoint, SocketEndpoint } from '../base/endpoint.ts'
import type { SandboxBilling, SandboxRun } from '../credits/sandboxBilling.ts'
import { createSandboxMeter } from '../credits/sandboxMeter.ts'
import type { DomainTargets } from '../domains/linkDomain.ts'
import type { OrphanedDomains } from '../domains/orphanedDomains.ts'
import { createHostEvents } from '../events/hostEvents.ts'
import { createDownloadRoutes } from '../files/downloadRoutes.ts'
import { createTreeRoutes } from '../files/treeRoutes.ts'
import { createUploadRepository } from '../files/uploadRepository.ts'
import { createUploadRoutes } from '../files/uploadRoutes.ts'
import { createUploads } from '../files/uploads.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'
import { createHostConnection } from '../host/hostConnection.ts'
import { createHostRoutes } from '../host/hostRoutes.ts'
import { openPath } from '../http/previewPages.ts'
import { createAnswerRepository } from '../idempotency/answerRepository.ts'
import { createIdlePolicy } from '../idle/idlePolicy.ts'
import { createSandboxUse } from '../idle/sandboxUse.ts'
import { createImageRoutes, toWireImage } from '../images/imageRoutes.ts'
import { createImages } from '../images/images.ts'
import { createMetricsRoutes } from '../metrics/metricsRoutes.ts'
import { createProcessRoutes } from '../metrics/processRoutes.ts'
import { createPortRoutes } from '../ports/portRoutes.ts'
import { createRemovedThingRepository } from '../references/removedThingRepository.ts'
import { createRemovedThingRoutes } from '../references/removedThingRoutes.ts'
import { createSandboxDomainRoutes } from '../sandboxDomains/sandboxDomainRoutes.ts'
import { createFileRoutes } from '../sandboxes/fileRoutes.ts'
import { createFoundSandboxes } from '../sandboxes/foundSandboxes.ts'
import { createFoundSandboxRepository } from '../sandboxes/foundSandboxRepository.ts'
import { createFoundSandboxRoutes } from '../sandboxes/foundSandboxRoutes.ts'
import { createRuntimeReports } from '../sandboxes/runtimeReports.ts'
import { createSandboxRegistry, type SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import { createSandboxRepository, type SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { createSandboxRoutes } from '../sandboxes/sandboxRoutes.ts'
import { toWireSandbox } from '../sandboxes/sandboxWire.ts'
import { createSnapshotRepository } from '../snapshots/snapshotRepository.ts'
import { createSnapshotRoutes } from '../snapshots/snapshotRoutes.ts'
import { createSnapshots } from '../snapshots/snapshots.ts'
import { createTerminalActivity } from '../terminals/terminalActivity.ts'
import { createTerminalLinkRepository } from '../terminals/terminalLinkRepository.ts'
import { createTerminalLinks } from '../terminals/terminalLinks.ts'
import { createTerminalRoutes } from '../terminals/terminalRoutes.ts'
import { createTerminalStream } from '../terminals/terminalStream.ts'
import { terminalToWire } from '../terminals/terminalWire.ts'
import type { PaymentModule } from './composePayments.ts'
import { composePorts, type PortModule } from './composePorts.ts'
import type { ServiceContext } from './serviceContext.ts'

export type SandboxModule = {
  /** Named in /health. */
  capabilities: readonly string[]
  sandboxes: SandboxRegistry
  ports: PortModule
  /** Reaches a port inside; that counts as a use of the sandbox. */
  connect: HostCalls['connect']
  /** Knows the holder of a terminal link. */
  linkHolder: (token: string) => Caller | undefined
  endpoints: readonly Endpoint[]
  terminals: SocketEndpoint
  /** Resources that domains can point to. */
  domainTargets: DomainTargets
  /** Whether the sandbox host has been unreachable for longer than a restart takes. */
  isHostAway: () => boolean
  /** Starts reports once the service listens: they contain addresses of ports, which are unknown before. */
  start(): void
}

const defaultHostWaitMs = 10_000
/** Far more than a person watches, and few enough that a loop gone wild does not take the machine down. */
const maxActiveSandboxes = 256
const idleCheckMs = 15_000

type SandboxOptions = {
  /** Ports, their names or sandboxes have changed. */
  onPortsChanged: () => void
  billing: SandboxBilling
  /** Whether an account registered a domain at this service, or a parent of it. */
  ownsDomain: (accountId: AccountId, domain: string) => boolean
  orphans: Pick<OrphanedDomains, 'sandboxRemoved'>
  isSandboxLeased: PaymentModule['isSandboxLeased']
}

/** The sandboxes, what belongs to them, and the host that runs them. */
export function composeSandboxes(
  context: ServiceContext,
  { onPortsChanged, billing, ownsDomain, orphans, isSandboxLeased }: SandboxOptions,
): SandboxModule {
  const { options, database, clock, activity, callers, events, address, principals, scope } = context
  const { log, now, defaultNetwork = 'none' } = options

  const addresses = composePorts(context, {
    ...{ onChanged: (id) => sandboxes.announce(id), onDomainsChanged: onPortsChanged, ownsDomain },
    findAccount: (id) => sandboxes.findAccount(id),
  })
  const { ports, tokens, frames, names, domains } = addresses
  const toWire = (record: SandboxRecord) =>
    toWireSandbox(record, {
      baseUrl: address.base(),
      ports: ports.list(record.id).map(({ port, url }) => ({ port, url })),
      cost: billing.getCost(record),
    })

  const use = createSandboxUse(clock.runningMs)
  const call: HostCall = use.trackCall((...request) => host.call(...request))
  const runtimes = createRuntimeReports({ call, order: options.runtimes })
  const terminalNotes = createTerminalActivity(activity)
  const records = createSandboxRepository(database)
  const removals = createFoundSandboxRepository(database)
  const snapshotRecords = createSnapshotRepository(database)
  const sharedImages = createImages({ call, runtimes, records })
  const sandboxes = createSandboxRegistry({
    records,
    removals,
    isLeased: isSandboxLeased,
    call,
    runtimes,
    images: sharedImages,
    publish(accountId, event) {
      events.publish(accountId, event)
      if (event.type === 'sandbox.changed') {
        meter.look(event.sandbox.id)
        foundSandboxes.label(event.sandbox.id)
      } else if (event.type === 'sandbox.removed') {
        meter.look(event.id)
        orphans.sandboxRemoved(event.id)
      }
      onPortsChanged()
    },
    note: activity.note,
    recordForAccount: activity.recordForAccount,
    toWire,
    defaultNetwork,
    assertCredits: billing.assertCredits,
    maxActive: options.maxActiveSandboxes ?? maxActiveSandboxes,
    newId: () => randomBytes(16).toString('hex'),
    now,
    log: log.forArea('sandboxes'),
  })
  const toRun = ({ startedAtMs, ...record }: SandboxRecord): SandboxRun[] =>
    record.status === 'running' && startedAtMs !== null ? [{ ...record, startedAtMs }] : []
  const meter = scope.own(
    createSandboxMeter({
      billing,
      findRun: (id) => [records.find(id)].flatMap((it) => (it ? toRun(it) : []))[0],
      running: () => records.all().flatMap(toRun),
      stop: sandboxes.stopUnpaid,
      log: log.forArea('credits'),
    }),
    (it) => it.close(),
  )
  const snapshots = createSnapshots({
    records: snapshotRecords,
    sandboxes,
    call,
    publish(accountId, event) {
      events.publish(accountId, event)
      if (event.type === 'snapshots.changed') foundSandboxes.label(event.sandbox_id)
    },
    note: activity.note,
    newId: () => randomBytes(12).toString('hex'),
    now,
    log: log.forArea('snapshots'),
  })
  const accounts = createAccountRepository(database)
  const foundSandboxes = createFoundSandboxes({
    ...{ records, removals, sandboxes, call, now },
    snapshots: snapshotRecords,
    hasAccount: accounts.hasAccount,
    recordForAccount: activity.recordForAccount,
    log: log.forArea('sandboxes'),
  })
  const answers = createAnswerRepository(database)
  const tell = createHostEvents({
    sandboxes,
    terminals: terminalNotes,
    publish(accountId, event) {
      if (event.type === 'terminal.removed') answers.removeCreated(event.session_id)
      events.publish(accountId, event)
    },
    publishToAll: events.publishToAll,
    toWire: terminalToWire,
    imageToWire: toWireImage,
  })
  const host = scope.own(
    createHostConnection({
      path: options.hostSocketPath,
      launch: options.launchHost,
      onEvent(event) {
        if (event.type === 'terminal.changed') use.recordUse(event.terminal.sandboxId)
        callers.apart(() => tell(event))
      },
      onNobody: (ending) => callers.apart(() => sandboxes.onHostDown(ending)),
      hasCrashed: () => existsSync(getHostPidFile(options.dataDir)),
      onConnected: (hostCall) =>
        callers.apart(async () => {
          runtimes.forget()
          await sandboxes.reconcile(hostCall)
          meter.lookAtAll()
          await snapshots.reconcile(hostCall)
          await foundSandboxes.reconcile(hostCall)
          await terminalNotes.catchUp(
            hostCall,
            records.all().map(({ id }) => id),
          )
          events.publishReady()
          void transfers.sweep()
        }),
      waitMs: options.hostWaitMs ?? defaultHostWaitMs,
      findHost: () => findHostProcess(options.dataDir),
      log: log.forArea('host'),
      now: clock.runningMs,
    }),
    (it) => it.close(),
  )
  const idle = scope.own(
    createIdlePolicy({
      records,
      use,
      sandboxes,
      call,
      everyMs: options.idleCheckMs ?? idleCheckMs,
      runningMs: clock.runningMs,
      log: log.forArea('idle'),
    }),
    (it) => it.close(),
  )
  const transfers = scope.own(
    createUploads({
      records: createUploadRepository(database),
      call,
      isRunning: (id) => sandboxes.find(id)?.status === 'running',
      onComplete: ({ sandboxId, path, size }) =>
        activity.note(sandboxId, { type: 'file.written', description: describeWrite(path, size) }),
      randomBytes,
      now,
      passedMs: clock.passedMs,
      log: log.forArea('uploads'),
    }),
    (it) => it.close(),
  )
  const links = createTerminalLinks({ links: createTerminalLinkRepository(database), now: clock.steadyMs, randomBytes })
  principals.add('link', links.findRights)

  return {
    sandboxes,
    ports: addresses,
    connect: use.trackConnect((...request) => host.connect(...request)),
    linkHolder: links.identify,
    domainTargets: {
      check(caller, { sandboxId, port }) {
        const id = parseSandboxId(sandboxId)
        sandboxes.requireOwned(caller, id)
        if (removals.removals().includes(id)) throw noSandbox()
        ports.get(id, port)
      },
      async lead(accountId, domain, { sandboxId, port }) {
        const id = parseSandboxId(sandboxId)
        if (sandboxes.findAccount(id) !== accountId) throw noSandbox()
        return domains.add({ sandboxId: id, accountId }, { domain, port })
      },
    },
    capabilities: ['sandboxes', 'images', 'snapshots', 'files', 'ports', 'terminals', 'terminal-links'],
    endpoints: callers.bindEndpoints([
      ...createImageRoutes(sharedImages),
      ...createSandboxRoutes({ sandboxes, runtimes, defaultNetwork, call, activity, toWire }),
      ...createHostRoutes(host),
      ...createFoundSandboxRoutes({ found: foundSandboxes, toWire }),
      ...createSnapshotRoutes({ snapshots, toWire }),
      ...createPortRoutes({ sandboxes, ports, tokens, frames, urlOf: names.getUrl, openPath }),
      ...createSandboxDomainRoutes({ sandboxes, domains }),
      ...createFileRoutes({ sandboxes, call, activity }),
      ...createTreeRoutes({ sandboxes, call }),
      ...createDownloadRoutes({ sandboxes, call, archive: use.trackArchive((...request) => host.archive(...request)) }),
      ...createUploadRoutes({ sandboxes, uploads: transfers }),
      ...createTerminalRoutes({
        sandboxes,
        links,
        call,
        activity: terminalNotes,
        baseUrl: address.base,
        newTerminalId: () => `pty_${randomBytes(12).toString('hex')}`,
      }),
      ...createMetricsRoutes({ sandboxes, call, now }),
      ...createProcessRoutes({ sandboxes, call }),
      ...createActivityRoutes({ sandboxes, activity }),
      ...createRemovedThingRoutes(createRemovedThingRepository(database)),
    ]),
    terminals: createTerminalStream({ sandboxes, host }),
    isHostAway: host.isAway,
    start() {
      host.start()
      idle.start()
    },
  }
}

/** @throws AppError `sandbox/not-found` */
function parseSandboxId(text: string): SandboxId {
  const { data } = SandboxId.safeParse(text)
  if (data) return data
  throw noSandbox()
}

function noSandbox(): AppError {
  return new AppError('sandbox/not-found', 'Sandbox not found or access denied')
}
