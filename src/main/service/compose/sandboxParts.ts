import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { findHostProcess } from '#platform/hostProcess.ts'
import { hostPidFile } from '#platform/hostSocket.ts'
import { AppError } from '#shared/appError.ts'
import { wroteWords } from '#shared/contract/activityWords.ts'
import { type AccountId, SandboxId } from '#shared/ids.ts'
import { accountRepository } from '../accounts/accountRepository.ts'
import { activityRoutes } from '../activity/activityRoutes.ts'
import type { Caller, Endpoint, SocketEndpoint } from '../base/endpoint.ts'
import type { SandboxBilling, SandboxRun } from '../credits/sandboxBilling.ts'
import { sandboxMeter } from '../credits/sandboxMeter.ts'
import type { OrphanedDomains } from '../domains/orphanedDomains.ts'
import type { DomainTargets } from '../domains/pointedDomain.ts'
import { hostEvents } from '../events/hostEvents.ts'
import { downloadRoutes } from '../files/downloadRoutes.ts'
import { treeRoutes } from '../files/treeRoutes.ts'
import { uploadRepository } from '../files/uploadRepository.ts'
import { uploadRoutes } from '../files/uploadRoutes.ts'
import { uploads } from '../files/uploads.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'
import { hostConnection } from '../host/hostConnection.ts'
import { hostRoutes } from '../host/hostRoutes.ts'
import { openPath } from '../http/previewPages.ts'
import { answerRepository } from '../idempotency/answerRepository.ts'
import { idlePolicy } from '../idle/idlePolicy.ts'
import { sandboxUse } from '../idle/sandboxUse.ts'
import { imageRoutes, imageToWire } from '../images/imageRoutes.ts'
import { images } from '../images/images.ts'
import { metricsRoutes } from '../metrics/metricsRoutes.ts'
import { processRoutes } from '../metrics/processRoutes.ts'
import { portRoutes } from '../ports/portRoutes.ts'
import { removedThingRepository } from '../references/removedThingRepository.ts'
import { removedThingRoutes } from '../references/removedThingRoutes.ts'
import { sandboxDomainRoutes } from '../sandboxDomains/sandboxDomainRoutes.ts'
import { fileRoutes } from '../sandboxes/fileRoutes.ts'
import { foundSandboxes } from '../sandboxes/foundSandboxes.ts'
import { foundSandboxRepository } from '../sandboxes/foundSandboxRepository.ts'
import { foundSandboxRoutes } from '../sandboxes/foundSandboxRoutes.ts'
import { runtimeReports } from '../sandboxes/runtimeReports.ts'
import { type SandboxRegistry, sandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import { type SandboxRecord, sandboxRepository } from '../sandboxes/sandboxRepository.ts'
import { sandboxRoutes } from '../sandboxes/sandboxRoutes.ts'
import { sandboxToWire } from '../sandboxes/sandboxWire.ts'
import { snapshotRepository } from '../snapshots/snapshotRepository.ts'
import { snapshotRoutes } from '../snapshots/snapshotRoutes.ts'
import { snapshots } from '../snapshots/snapshots.ts'
import { terminalActivity } from '../terminals/terminalActivity.ts'
import { terminalLinkRepository } from '../terminals/terminalLinkRepository.ts'
import { terminalLinks } from '../terminals/terminalLinks.ts'
import { terminalRoutes } from '../terminals/terminalRoutes.ts'
import { terminalStream } from '../terminals/terminalStream.ts'
import { terminalToWire } from '../terminals/terminalWire.ts'
import { type PortParts, portParts } from './portParts.ts'
import type { ServiceGround } from './serviceGround.ts'

export type SandboxParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  sandboxes: SandboxRegistry
  ports: PortParts
  /** Reaches a port inside; that counts as a use of the sandbox. */
  connect: HostCalls['connect']
  /** Knows the holder of a terminal link. */
  linkHolder: (token: string) => Caller | undefined
  endpoints: readonly Endpoint[]
  terminals: SocketEndpoint
  /** Where domains can be led to. */
  domainTargets: DomainTargets
  /** Whether the sandbox host has been unreachable for longer than a restart takes. */
  isHostAway: () => boolean
  /** Starts reports once the service listens: they contain addresses of ports, which are unknown before. */
  start(): void
}

const defaultHostWaitMs = 10_000
/** Far more than a person watches, and few enough that a loop gone wild does not take the machine down. */
const mostActiveSandboxes = 256
const idleCheckMs = 15_000

type Given = {
  /** Ports, their names or sandboxes have changed. */
  onPortsChanged: () => void
  billing: SandboxBilling
  /** Whether an account registered a domain at this service, or the one that it is part of. */
  ownsDomain: (accountId: AccountId, domain: string) => boolean
  orphans: Pick<OrphanedDomains, 'sandboxRemoved'>
}

/** The sandboxes, what belongs to them, and the host that runs them. */
export function sandboxParts(
  ground: ServiceGround,
  { onPortsChanged, billing, ownsDomain, orphans }: Given,
): SandboxParts {
  const { options, database, clock, activity, callers, events, address, principals, scope } = ground
  const { log, now, defaultNetwork = 'none' } = options

  const addresses = portParts(ground, {
    ...{ onChanged: (id) => sandboxes.announce(id), onDomainsChanged: onPortsChanged, ownsDomain },
    accountOf: (id) => sandboxes.accountOf(id),
  })
  const { ports, tokens, frames, names, domains } = addresses
  const toWire = (record: SandboxRecord) =>
    sandboxToWire(record, {
      baseUrl: address.base(),
      ports: ports.list(record.id).map(({ port, url }) => ({ port, url })),
      cost: billing.costOf(record),
    })

  const use = sandboxUse(clock.runningMs)
  const call: HostCall = use.watchedCall((...request) => host.call(...request))
  const runtimes = runtimeReports({ call, order: options.runtimes })
  const terminalNotes = terminalActivity(activity)
  const records = sandboxRepository(database)
  const removals = foundSandboxRepository(database)
  const snapshotRecords = snapshotRepository(database)
  const sharedImages = images({ call, runtimes, records })
  const sandboxes = sandboxRegistry({
    records,
    removals,
    call,
    runtimes,
    images: sharedImages,
    publish(accountId, event) {
      events.publish(accountId, event)
      if (event.type === 'sandbox.changed') {
        meter.look(event.sandbox.id)
        found.label(event.sandbox.id)
      } else if (event.type === 'sandbox.removed') {
        meter.look(event.id)
        orphans.sandboxRemoved(event.id)
      }
      onPortsChanged()
    },
    note: activity.note,
    noteAccount: activity.noteAccount,
    toWire,
    defaultNetwork,
    needCredits: billing.needCredits,
    mostActive: options.mostActiveSandboxes ?? mostActiveSandboxes,
    newId: () => randomBytes(16).toString('hex'),
    now,
    log: log.of('sandboxes'),
  })
  const runOf = ({ startedAtMs, ...record }: SandboxRecord): SandboxRun[] =>
    record.status === 'running' && startedAtMs !== null ? [{ ...record, startedAtMs }] : []
  const meter = scope.own(
    sandboxMeter({
      billing,
      runOf: (id) => [records.find(id)].flatMap((it) => (it ? runOf(it) : []))[0],
      running: () => records.all().flatMap(runOf),
      stop: sandboxes.stopUnpaid,
      log: log.of('credits'),
    }),
    (it) => it.close(),
  )
  const kept = snapshots({
    records: snapshotRecords,
    sandboxes,
    call,
    publish(accountId, event) {
      events.publish(accountId, event)
      if (event.type === 'snapshots.changed') found.label(event.sandbox_id)
    },
    note: activity.note,
    newId: () => randomBytes(12).toString('hex'),
    now,
    log: log.of('snapshots'),
  })
  const accounts = accountRepository(database)
  const found = foundSandboxes({
    ...{ records, removals, sandboxes, call, now },
    snapshots: snapshotRecords,
    hasAccount: accounts.hasAccount,
    noteAccount: activity.noteAccount,
    log: log.of('sandboxes'),
  })
  const answers = answerRepository(database)
  const tell = hostEvents({
    sandboxes,
    terminals: terminalNotes,
    publish(accountId, event) {
      if (event.type === 'terminal.removed') answers.removeCreated(event.session_id)
      events.publish(accountId, event)
    },
    publishToAll: events.publishToAll,
    toWire: terminalToWire,
    imageToWire,
  })
  const host = scope.own(
    hostConnection({
      path: options.hostSocketPath,
      launch: options.launchHost,
      onEvent(event) {
        if (event.type === 'terminal.changed') use.used(event.terminal.sandboxId)
        callers.apart(() => tell(event))
      },
      onNobody: (ending) => callers.apart(() => sandboxes.hostGone(ending)),
      hasCrashed: () => existsSync(hostPidFile(options.dataDir)),
      onConnected: (hostCall) =>
        callers.apart(async () => {
          runtimes.forget()
          await sandboxes.reconcile(hostCall)
          meter.lookAtAll()
          await kept.reconcile(hostCall)
          await found.reconcile(hostCall)
          await terminalNotes.catchUp(
            hostCall,
            records.all().map(({ id }) => id),
          )
          events.publishReady()
          void transfers.sweep()
        }),
      waitMs: options.hostWaitMs ?? defaultHostWaitMs,
      findHost: () => findHostProcess(options.dataDir),
      log: log.of('host'),
      now: clock.runningMs,
    }),
    (it) => it.close(),
  )
  const idle = scope.own(
    idlePolicy({
      records,
      use,
      sandboxes,
      call,
      everyMs: options.idleCheckMs ?? idleCheckMs,
      runningMs: clock.runningMs,
      log: log.of('idle'),
    }),
    (it) => it.close(),
  )
  const transfers = scope.own(
    uploads({
      records: uploadRepository(database),
      call,
      isRunning: (id) => sandboxes.find(id)?.status === 'running',
      onComplete: ({ sandboxId, path, size }) =>
        activity.note(sandboxId, { type: 'file.written', description: wroteWords(path, size) }),
      randomBytes,
      now,
      passedMs: clock.passedMs,
      log: log.of('uploads'),
    }),
    (it) => it.close(),
  )
  const links = terminalLinks({ links: terminalLinkRepository(database), now: clock.steadyMs, randomBytes })
  principals.add('link', links.findRights)

  return {
    sandboxes,
    ports: addresses,
    connect: use.watchedConnect((...request) => host.connect(...request)),
    linkHolder: links.identify,
    domainTargets: {
      check(caller, { sandboxId, port }) {
        const id = sandboxIdOf(sandboxId)
        sandboxes.owned(caller, id)
        ports.get(id, port)
      },
      async lead(accountId, domain, { sandboxId, port }) {
        const id = sandboxIdOf(sandboxId)
        if (sandboxes.accountOf(id) !== accountId) throw noSandbox()
        return domains.add({ sandboxId: id, accountId }, { domain, port })
      },
    },
    capabilities: ['sandboxes', 'images', 'snapshots', 'files', 'ports', 'terminals', 'terminal-links'],
    endpoints: callers.known([
      ...imageRoutes(sharedImages),
      ...sandboxRoutes({ sandboxes, runtimes, defaultNetwork, call, activity, toWire }),
      ...hostRoutes(host),
      ...foundSandboxRoutes({ found, toWire }),
      ...snapshotRoutes({ snapshots: kept, toWire }),
      ...portRoutes({ sandboxes, ports, tokens, frames, urlOf: names.urlOf, openPath }),
      ...sandboxDomainRoutes({ sandboxes, domains }),
      ...fileRoutes({ sandboxes, call, activity }),
      ...treeRoutes({ sandboxes, call }),
      ...downloadRoutes({ sandboxes, call, archive: use.watchedArchive((...request) => host.archive(...request)) }),
      ...uploadRoutes({ sandboxes, uploads: transfers }),
      ...terminalRoutes({
        sandboxes,
        links,
        call,
        activity: terminalNotes,
        baseUrl: address.base,
        newTerminalId: () => `pty_${randomBytes(12).toString('hex')}`,
      }),
      ...metricsRoutes({ sandboxes, call, now }),
      ...processRoutes({ sandboxes, call }),
      ...activityRoutes({ sandboxes, activity }),
      ...removedThingRoutes(removedThingRepository(database)),
    ]),
    terminals: terminalStream({ sandboxes, host }),
    isHostAway: host.isAway,
    start() {
      host.start()
      idle.start()
    },
  }
}

/** @throws AppError `sandbox/not-found` */
function sandboxIdOf(text: string): SandboxId {
  const { data } = SandboxId.safeParse(text)
  if (data) return data
  throw noSandbox()
}

function noSandbox(): AppError {
  return new AppError('sandbox/not-found', 'Sandbox not found or access denied')
}
