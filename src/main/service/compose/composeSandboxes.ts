import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { getHostPidFile } from '#platform/net/hostSocket.ts'
import { findHostProcess } from '#platform/processes/hostProcess.ts'
import { AppError } from '#shared/appError.ts'
import { describeWrite } from '#shared/contract/activityTexts.ts'
import type { HostEvent } from '#shared/contract/hostIpc.ts'
import { type AccountId, SandboxId } from '#shared/ids.ts'
import type { Query } from '#storage/store.ts'
import { accountRepository } from '../accounts/accountRepository.ts'
import type { Caller, Endpoint, SocketEndpoint } from '../base/endpoint.ts'
import type { SandboxBilling, SandboxRun } from '../credits/sandboxBilling.ts'
import { createSandboxMeter, type SandboxMeter } from '../credits/sandboxMeter.ts'
import type { DomainTargets } from '../domains/linkDomain.ts'
import type { OrphanedDomains } from '../domains/orphanedDomains.ts'
import { createHostEvents } from '../events/hostEvents.ts'
import { createUploads, type Uploads } from '../files/uploads.ts'
import { createFoundSandboxes, type FoundSandboxes } from '../foundSandboxes/foundSandboxes.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'
import { createHostConnection, type HostConnection, type HostConnectionOptions } from '../host/hostConnection.ts'
import { createRuntimeReports } from '../host/runtimeReports.ts'
import { answerRepository } from '../idempotency/answerRepository.ts'
import { createIdlePolicy } from '../idle/idlePolicy.ts'
import { createSandboxUse, type SandboxUse } from '../idle/sandboxUse.ts'
import { toWireImage } from '../images/imageRoutes.ts'
import { createImages } from '../images/images.ts'
import { foundSandboxRepository } from '../sandboxes/foundSandboxRepository.ts'
import { createSandboxRegistry, type SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import { type SandboxRecord, sandboxRepository } from '../sandboxes/sandboxRepository.ts'
import { toWireSandbox } from '../sandboxes/sandboxWire.ts'
import { snapshotRepository } from '../snapshots/snapshotRepository.ts'
import { createSnapshots, type Snapshots } from '../snapshots/snapshots.ts'
import { createTerminalActivity, type TerminalActivity } from '../terminals/terminalActivity.ts'
import { createTerminalLinks } from '../terminals/terminalLinks.ts'
import { createTerminalStream } from '../terminals/terminalStream.ts'
import { terminalToWire } from '../terminals/terminalWire.ts'
import type { PaymentModule } from './composePayments.ts'
import { composePorts, type PortModule } from './composePorts.ts'
import { createSandboxEndpoints } from './sandboxEndpoints.ts'
import type { ServiceContext } from './serviceContext.ts'

export type SandboxModule = {
  capabilities: readonly string[]
  sandboxes: SandboxRegistry
  ports: PortModule
  /** Connects to a port in a sandbox, which counts as a use of the sandbox. */
  connect: HostCalls['connect']
  /** Identifies the caller that a terminal link belongs to. */
  linkHolder: (token: string) => Promise<Caller | undefined>
  endpoints: readonly Endpoint[]
  terminals: SocketEndpoint
  /** Sandboxes and ports that domains can point to. */
  domainTargets: DomainTargets
  isHostAway: () => boolean
  /**
   * Starts host reports. Call it after the service listens, because reports contain addresses of ports, which are
   * unknown before.
   */
  start(): void
}

const defaultHostWaitMs = 10_000
/** Far more than one user needs, and few enough that a runaway loop does not exhaust the computer. */
const maxActiveSandboxes = 256
const idleCheckMs = 15_000

type SandboxOptions = {
  /** Called when ports, their names or sandboxes have changed. */
  onPortsChanged: () => void
  billing: SandboxBilling
  ownsDomain: (query: Query, accountId: AccountId, domain: string) => Promise<boolean>
  orphans: Pick<OrphanedDomains, 'sandboxRemoved'>
  isSandboxLeased: PaymentModule['isSandboxLeased']
}

/** Composes the sandboxes, their contents and the connection to the sandbox host. */
export function composeSandboxes(
  context: ServiceContext,
  { onPortsChanged, billing, ownsDomain, orphans, isSandboxLeased }: SandboxOptions,
): SandboxModule {
  const { options, store, clock, activity, events, address, principals } = context
  const { log, now, defaultNetwork = 'none' } = options

  const ports = composePorts(context, {
    ...{ onChanged: (id) => void sandboxes.announce(id), onDomainsChanged: onPortsChanged, ownsDomain },
    findAccount: (id) => sandboxes.findAccount(id),
  })
  const toWire = async (record: SandboxRecord) =>
    toWireSandbox(record, {
      baseUrl: address.base(),
      ports: (await ports.ports.list(record.id)).map(({ port, url }) => ({ port, url })),
      cost: billing.getCost(record),
    })

  const use = createSandboxUse(clock.runningMs)
  const call: HostCall = use.trackCall((...request) => host.call(...request))
  const runtimes = createRuntimeReports({ call, order: options.runtimes })
  const terminalActivity = createTerminalActivity(activity)
  const images = createImages({
    call,
    runtimes,
    countSandboxes: (name) => sandboxRepository.countByImage(store.read, name),
  })
  const sandboxes = createSandboxRegistry({
    store,
    isLeased: isSandboxLeased,
    call,
    runtimes,
    images,
    async publish(accountId, event) {
      events.publish(accountId, event)
      onPortsChanged()
      if (event.type === 'sandbox.changed') {
        foundSandboxes.label(event.sandbox.id)
        await meter.look(event.sandbox.id)
      } else if (event.type === 'sandbox.removed') {
        orphans
          .sandboxRemoved(accountId, event.id)
          .catch((error: unknown) =>
            log.error('failed to look for domains of a deleted sandbox', { id: event.id, error }),
          )
        await meter.look(event.id)
      }
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
  const meter = composeMeter(context, { billing, stop: sandboxes.stopUnpaid })
  const snapshots = composeSnapshots(context, {
    ...{ sandboxes, call },
    label: (id) => foundSandboxes.label(id),
  })
  const foundSandboxes = composeFoundSandboxes(context, { sandboxes, call })
  const host = composeHost(context, {
    use,
    onEvent: composeHostEvents(context, { sandboxes, terminals: terminalActivity }),
    onNobody: sandboxes.onHostDown,
    async onConnected(hostCall) {
      runtimes.forget()
      await sandboxes.reconcile(hostCall)
      meter.lookAtAll()
      await snapshots.reconcile(hostCall)
      await foundSandboxes.reconcile(hostCall)
      const ids = (await sandboxRepository.listAll(store.read)).map(({ id }) => id)
      await terminalActivity.catchUp(hostCall, ids)
      events.publishReady()
      void uploads.sweep()
    },
  })
  const idle = composeIdlePolicy(context, { use, sandboxes, call })
  const uploads = composeUploads(context, { sandboxes, call })
  const links = createTerminalLinks({ store, now: clock.steadyMs, randomBytes })
  principals.add('link', links.findRights)

  return {
    sandboxes,
    ports,
    connect: use.trackConnect((...request) => host.connect(...request)),
    linkHolder: links.identify,
    domainTargets: createDomainTargets(context, { sandboxes, ports }),
    capabilities: ['sandboxes', 'images', 'snapshots', 'files', 'ports', 'terminals', 'terminal-links'],
    endpoints: createSandboxEndpoints(context, {
      ...{ sandboxes, foundSandboxes, snapshots, images, runtimes, ports, uploads, links, terminalActivity },
      ...{ host, use, call, toWire, defaultNetwork },
    }),
    terminals: createTerminalStream({ sandboxes, host }),
    isHostAway: host.isAway,
    start() {
      host.start()
      idle.start()
    },
  }
}

function composeMeter(
  { options, store, scope }: ServiceContext,
  { billing, stop }: { billing: SandboxBilling; stop: SandboxRegistry['stopUnpaid'] },
): SandboxMeter {
  const toRun = ({ startedAtMs, ...record }: SandboxRecord): SandboxRun[] =>
    record.status === 'running' && startedAtMs !== null ? [{ ...record, startedAtMs }] : []
  return scope.own(
    createSandboxMeter({
      billing,
      async findRun(id) {
        const record = await sandboxRepository.find(store.read, id)
        return record && toRun(record)[0]
      },
      running: async () => (await sandboxRepository.listAll(store.read)).flatMap(toRun),
      stop,
      log: options.log.forArea('credits'),
    }),
    (it) => it.close(),
  )
}

function composeSnapshots(
  { options, store, activity, events }: ServiceContext,
  dependencies: {
    sandboxes: SandboxRegistry
    call: HostCall
    label: FoundSandboxes['label']
  },
): Snapshots {
  const { sandboxes, call, label } = dependencies
  return createSnapshots({
    store,
    sandboxes,
    call,
    publish(accountId, event) {
      events.publish(accountId, event)
      if (event.type === 'snapshots.changed') label(event.sandbox_id)
    },
    note: activity.note,
    newId: () => randomBytes(12).toString('hex'),
    now: options.now,
    log: options.log.forArea('snapshots'),
  })
}

function composeFoundSandboxes(
  { options, store, activity }: ServiceContext,
  dependencies: { sandboxes: SandboxRegistry; call: HostCall },
): FoundSandboxes {
  return createFoundSandboxes({
    ...dependencies,
    ...{ store, records: sandboxRepository, removals: foundSandboxRepository, snapshots: snapshotRepository },
    now: options.now,
    hasAccount: (accountId) => accountRepository.hasAccount(store.read, accountId),
    recordForAccount: activity.recordForAccount,
    log: options.log.forArea('sandboxes'),
  })
}

function composeHostEvents(
  { options, store, events }: ServiceContext,
  { sandboxes, terminals }: { sandboxes: SandboxRegistry; terminals: TerminalActivity },
): (event: HostEvent) => void {
  const log = options.log.forArea('sandboxes')
  return createHostEvents({
    sandboxes,
    terminals,
    publish(accountId, event) {
      if (event.type !== 'terminal.removed') return events.publish(accountId, event)
      // First, so that a client that repeats its request after the event creates a terminal.
      void store
        .write((tx) => answerRepository.removeCreated(tx, event.session_id))
        .catch((error: unknown) => log.error('failed to remove the response of a removed terminal', { error }))
        .then(() => events.publish(accountId, event))
    },
    publishToAll: events.publishToAll,
    toWire: terminalToWire,
    log: options.log.forArea('sandboxes'),
    imageToWire: toWireImage,
  })
}

function composeHost(
  { options, clock, callers, scope }: ServiceContext,
  dependencies: { use: SandboxUse } & Pick<HostConnectionOptions, 'onEvent' | 'onNobody' | 'onConnected'>,
): HostConnection {
  const { use, onEvent, onNobody, onConnected } = dependencies
  return scope.own(
    createHostConnection({
      path: options.hostSocketPath,
      launch: options.launchHost,
      onEvent(event) {
        if (event.type === 'terminal.changed') use.recordUse(event.terminal.sandboxId)
        callers.apart(() => onEvent(event))
      },
      onNobody: (ending) => callers.apart(() => onNobody(ending)),
      hasCrashed: () => existsSync(getHostPidFile(options.dataDir)),
      onConnected: (hostCall) => callers.apart(() => onConnected(hostCall)),
      waitMs: options.hostWaitMs ?? defaultHostWaitMs,
      findHost: () => findHostProcess(options.dataDir),
      log: options.log.forArea('host'),
      now: clock.runningMs,
    }),
    (it) => it.close(),
  )
}

function composeIdlePolicy(
  { options, store, clock, scope }: ServiceContext,
  dependencies: { use: SandboxUse; sandboxes: SandboxRegistry; call: HostCall },
): ReturnType<typeof createIdlePolicy> {
  return scope.own(
    createIdlePolicy({
      ...dependencies,
      listAll: () => sandboxRepository.listAll(store.read),
      everyMs: options.idleCheckMs ?? idleCheckMs,
      runningMs: clock.runningMs,
      log: options.log.forArea('idle'),
    }),
    (it) => it.close(),
  )
}

function composeUploads(
  { options, store, clock, activity, scope }: ServiceContext,
  { sandboxes, call }: { sandboxes: SandboxRegistry; call: HostCall },
): Uploads {
  return scope.own(
    createUploads({
      store,
      call,
      isRunning: async (id) => (await sandboxes.find(id))?.status === 'running',
      onComplete: ({ sandboxId, path, size }) =>
        activity.note(sandboxId, { type: 'file.written', description: describeWrite(path, size) }),
      randomBytes,
      now: options.now,
      passedMs: clock.passedMs,
      log: options.log.forArea('uploads'),
    }),
    (it) => it.close(),
  )
}

function createDomainTargets(
  { store }: ServiceContext,
  { sandboxes, ports }: { sandboxes: SandboxRegistry; ports: PortModule },
): DomainTargets {
  return {
    async check(caller, { sandboxId, port }) {
      const id = parseSandboxId(sandboxId)
      await sandboxes.requireOwned(caller, id)
      if (await foundSandboxRepository.isMarked(store.read, id)) throw createNoSandboxError()
      await ports.ports.get(store.read, id, port)
    },
    async lead(accountId, domain, { sandboxId, port }) {
      const id = parseSandboxId(sandboxId)
      if ((await sandboxes.findAccount(id)) !== accountId) throw createNoSandboxError()
      return ports.domains.add({ sandboxId: id, accountId }, { domain, port })
    },
  }
}

/** @throws AppError `sandbox/not-found` */
function parseSandboxId(text: string): SandboxId {
  const { data } = SandboxId.safeParse(text)
  if (data) return data
  throw createNoSandboxError()
}

function createNoSandboxError(): AppError {
  return new AppError('sandbox/not-found', 'Sandbox not found or access denied')
}
