import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ActivityType } from '#shared/contract/activity.ts'
import type { ServiceEvent } from '#shared/contract/events.ts'
import type { RunningSandboxInstance } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import type { Parsed } from '#shared/contract/route.ts'
import type { changeSandbox, createSandbox, DefaultNetwork, Enforced, Sandbox } from '#shared/contract/sandboxes.ts'
import { type AccountId, SandboxId, type SnapshotId, shortenId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { Caller } from '../base/endpoint.ts'
import { chooseNetwork } from '../base/runtimeChoice.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { HostEnding } from '../host/hostConnection.ts'
import type { RuntimeReports } from '../host/runtimeReports.ts'
import type { Images } from '../images/images.ts'
import { foundSandboxRepository } from './foundSandboxRepository.ts'
import type { SandboxRecord, SandboxRepository } from './sandboxRepository.ts'
import { createSandboxSpec } from './sandboxWire.ts'

export type SandboxRegistry = {
  /** @throws AppError `sandbox/capacity`, and the errors of `start` */
  create(accountId: AccountId, request: Parsed<typeof createSandbox>['body'], from?: FilesOf): Promise<SandboxRecord>
  list(accountId: AccountId): SandboxRecord[]
  /** @throws AppError `sandbox/not-found`, both for unknown ids and for sandboxes of other accounts */
  requireOwned(caller: Caller, id: SandboxId): SandboxRecord
  /** @throws AppError `sandbox/not-found`, `sandbox/not-running` */
  running(caller: Caller, id: SandboxId): SandboxRecord
  start(caller: Caller, id: SandboxId): Promise<SandboxRecord>
  stop(caller: Caller, id: SandboxId): Promise<SandboxRecord>
  /**
   * Runs work without concurrent changes of the sandbox.
   * @throws AppError `sandbox/busy` while the sandbox is being created
   */
  exclusively<T>(caller: Caller, id: SandboxId, work: (record: SandboxRecord) => Promise<T>): Promise<T>
  /**
   * Stops a running sandbox for the change, and restarts it regardless of the outcome.
   * @throws AppError `sandbox/busy`
   */
  replaceFiles(caller: Caller, id: SandboxId, replacement: FileReplacement): Promise<SandboxRecord>
  /** Stops an idle sandbox after pending changes, if `isIdle` still returns true. */
  stopIdle(id: SandboxId, isIdle: () => boolean): Promise<void>
  /** Stops a sandbox whose account has insufficient credits. */
  stopUnpaid(id: SandboxId): Promise<void>
  change(caller: Caller, id: SandboxId, request: Parsed<typeof changeSandbox>['body']): SandboxRecord
  remove(caller: Caller, id: SandboxId): Promise<void>
  /**
   * Adds a sandbox found on disk to the database.
   * @throws AppError `sandbox/not-found` if the database already contains it
   */
  adopt(record: SandboxRecord): SandboxRecord
  findAccount(id: SandboxId): AccountId | undefined
  find(id: SandboxId): SandboxRecord | undefined
  /** Publishes that a resource of the sandbox changed. */
  announce(id: SandboxId): void
  /** Handles the host's report that a sandbox ended unexpectedly. */
  onEnded(id: SandboxId, reason: string): void
  /** Handles the end of the host, with which all its sandboxes have ended. */
  onHostDown(ending: HostEnding): void
  /** Reconciles the records with the sandboxes and files of a newly connected host. */
  reconcile(call: HostCall): Promise<void>
}

/** Snapshot to create a sandbox from, and the time allowed for creating it. */
export type FilesOf = { sandboxId: SandboxId; snapshotId: SnapshotId; deadlineMs: number }

export type FileReplacement = {
  /** Reason for stopping the sandbox. */
  reason: string
  /** Replaces all files, or none if it fails. */
  replace: (record: SandboxRecord) => Promise<void>
}

export type SandboxRegistryOptions = {
  records: SandboxRepository
  store: Store
  /** Whether a purchase for the sandbox is being settled or delivered. */
  isLeased: (id: SandboxId) => Promise<boolean>
  call: HostCall
  runtimes: RuntimeReports
  images: Pick<Images, 'ready' | 'requireStored'>
  publish: (accountId: AccountId, event: ServiceEvent) => void
  note: ActivityLog['note']
  recordForAccount: ActivityLog['recordForAccount']
  toWire: (record: SandboxRecord) => Sandbox
  defaultNetwork: DefaultNetwork
  maxActive: number
  /** Checks the credits before a sandbox starts. @throws AppError `credits/sandbox` */
  assertCredits: (accountId: AccountId, size: Pick<SandboxRecord, 'vcpu' | 'memoryMb' | 'diskGb'>) => Promise<void>
  newId: () => string
  now: () => number
  log: Log
}

/** Creating, starting and removing files may take a while on a busy computer. */
const changeDeadlineMs = 90_000
const hostEnded = 'Stopped: the sandbox host exited.'
const endedWithSteward = 'Stopped with Steward.'
const nothingEnforced: Enforced = { memory: false, cpu: false, disk: false, processes: false }

export function createSandboxRegistry(options: SandboxRegistryOptions): SandboxRegistry {
  const { records, store, call, publish, note, now, log } = options
  const changes = createKeyedQueue()
  /** Sandboxes being created by a request of this process, which also finishes or removes them. */
  const creating = new Set<SandboxId>()

  const markRemoval = (id: SandboxId): Promise<void> =>
    store.write((tx) => foundSandboxRepository.markRemoval(tx, id, now()))
  const unmarkRemoval = (id: SandboxId): Promise<void> =>
    store.write((tx) => foundSandboxRepository.unmarkRemoval(tx, id))

  const tell = (record: SandboxRecord): SandboxRecord => {
    publish(record.accountId, { type: 'sandbox.changed', sandbox: options.toWire(record) })
    return record
  }
  const update = (record: SandboxRecord): SandboxRecord => {
    records.updateStatus(record)
    // Reads the record again, because it may have been renamed during the change.
    return tell(records.find(record.id) ?? record)
  }
  const forget = (record: SandboxRecord, why: string): void => {
    records.remove(record.id)
    options.recordForAccount(record.accountId, { type: 'sandbox.deleted', description: why, sandbox: record })
    publish(record.accountId, { type: 'sandbox.removed', id: record.id })
  }
  const nowRunning = (record: SandboxRecord, { startedAtMs, enforced }: RunningSandboxInstance): SandboxRecord => {
    note(record.id, { type: 'sandbox.started', description: 'Started.' })
    return update({ ...record, status: 'running', statusReason: null, startedAtMs, enforced })
  }
  const nowStopped = (record: SandboxRecord, why: string | { description: string; reason: string }): SandboxRecord => {
    const { description, reason } = typeof why === 'string' ? { description: why, reason: why } : why
    note(record.id, { type: 'sandbox.stopped', description })
    return update({ ...record, status: 'stopped', statusReason: reason, startedAtMs: null })
  }
  const nowBroken = (record: SandboxRecord, reason: string): SandboxRecord => {
    note(record.id, { type: 'sandbox.failed', description: reason })
    return update({ ...record, status: 'error', statusReason: reason, startedAtMs: null })
  }

  const assertCapacity = (): void => {
    if (records.countActive() < options.maxActive) return
    throw new AppError('sandbox/capacity', 'No capacity', {
      detail: `At most ${options.maxActive} sandboxes can run at once.`,
    })
  }

  /** An image belongs to one runtime. */
  const chooseRuntime = async ({ runtime, image }: { runtime?: string | undefined; image?: ImageName | undefined }) => {
    if (image === undefined) return runtime
    const of = (await options.images.ready(image)).runtime
    if (runtime === undefined || runtime === of) return of
    throw new AppError(
      'request/invalid',
      `The image \`${image}\` belongs to the runtime \`${of}\`, not to \`${runtime}\`.`,
    )
  }

  const requireOwned = (caller: Caller, id: SandboxId): SandboxRecord => {
    const record = records.find(id)
    if (record?.accountId === caller.accountId) return record
    throw new AppError('sandbox/not-found', 'Sandbox not found or access denied')
  }

  const requireSettled = (caller: Caller, id: SandboxId): SandboxRecord => {
    const record = requireOwned(caller, id)
    if (record.status !== 'provisioning') return record
    throw new AppError('sandbox/busy', `The sandbox ${record.name} is being created.`)
  }

  const startAgain = async (record: SandboxRecord): Promise<SandboxRecord> => {
    const { result } = await call('machine.start', createSandboxSpec(record), { deadlineMs: changeDeadlineMs })
    return nowRunning(record, result)
  }

  return {
    requireOwned,
    list: (accountId) => records.list(accountId),
    findAccount: (id) => records.find(id)?.accountId,
    find: (id) => records.find(id),
    announce(id) {
      const record = records.find(id)
      if (record) tell(record)
    },

    async create(accountId, request, from) {
      const runtime = await options.runtimes.choose(await chooseRuntime(request))
      const network = request.network ?? chooseNetwork(options.defaultNetwork, runtime)
      assertCapacity()
      const { vcpu, memory_mb: memoryMb, disk_gb: diskGb } = request
      await options.assertCredits(accountId, { vcpu, memoryMb, diskGb })
      // Other requests may have used the capacity, or marked the image for removal. There is no `await` between here and
      // the record.
      assertCapacity()
      if (request.image !== undefined) options.images.requireStored(request.image)
      const id = SandboxId.parse(options.newId())
      const record: SandboxRecord = {
        id,
        accountId,
        name: request.name ?? `sandbox-${shortenId(id)}`,
        ...{ vcpu, memoryMb, diskGb },
        region: request.region,
        runtime: runtime.name,
        image: request.image ?? null,
        network,
        idleMinutes: request.idle_minutes,
        enforced: nothingEnforced,
        status: 'provisioning',
        statusReason: null,
        createdAtMs: now(),
        startedAtMs: null,
      }
      creating.add(id)
      try {
        records.add(record)
        note(id, { type: 'sandbox.created', description: describeCreation(from && records.find(from.sandboxId)?.name) })
        tell(record)
        const { result } = await changes.run(id, () =>
          call(
            'machine.create',
            {
              ...createSandboxSpec(record),
              ...(from && { from: { sandboxId: from.sandboxId, snapshotId: from.snapshotId } }),
            },
            { deadlineMs: from?.deadlineMs ?? changeDeadlineMs },
          ),
        )
        return nowRunning(record, result)
      } catch (error) {
        await markRemoval(id)
        forget(record, 'Could not be created. Nothing of it is left.')
        // The host may have created the sandbox without responding, so it is deleted in either case.
        call('machine.delete', { sandboxId: id })
          .then(() => unmarkRemoval(id))
          .catch((cause: unknown) =>
            log.warn('sandbox cleanup deferred until the host reconnects', { id, error: cause }),
          )
        throw error
      } finally {
        creating.delete(id)
      }
    },

    running(caller, id) {
      const record = requireOwned(caller, id)
      if (record.status === 'running') return record
      throw new AppError('sandbox/not-running', `The sandbox ${record.name} is not running: it is ${record.status}.`)
    },

    start: (caller, id) =>
      changes.run(id, async () => {
        const record = requireOwned(caller, id)
        if (record.status === 'running') return record
        assertCapacity()
        await options.assertCredits(record.accountId, record)
        assertCapacity() // other requests may have used it
        try {
          return await startAgain(record)
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'sandbox/not-found') throw error
          nowBroken(record, 'Its files are missing.')
          throw createFilesLostError(record, error)
        }
      }),

    stop: (caller, id) =>
      changes.run(id, async () => {
        const record = requireOwned(caller, id)
        if (record.status !== 'running') return record
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        return nowStopped(record, { description: 'Stopped.', reason: 'Stopped on request.' })
      }),

    async exclusively(caller, id, work) {
      requireSettled(caller, id)
      return changes.run(id, () => work(requireSettled(caller, id)))
    },

    async replaceFiles(caller, id, { reason, replace }) {
      requireSettled(caller, id)
      return changes.run(id, async () => {
        const record = requireSettled(caller, id)
        const ran = record.status === 'running'
        // Name and network may have changed in the meantime.
        const present = () => records.find(id) ?? record
        if (ran) {
          await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          nowStopped(record, reason)
        }
        try {
          await replace(record)
        } catch (error) {
          if (ran) {
            await startAgain(present()).catch((cause: unknown) =>
              log.error('failed to restart a sandbox that was stopped to change its files', { id, error: cause }),
            )
          }
          throw error
        }
        if (ran) return startAgain(present())
        return record.status === 'error' ? nowStopped(record, 'Its files are back.') : record
      })
    },

    stopIdle: (id, isIdle) =>
      changes.run(id, async () => {
        const record = records.find(id)
        if (record?.status !== 'running' || !isIdle()) return
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        const { idleMinutes } = record
        nowStopped(record, `Stopped after ${idleMinutes} minute${idleMinutes === 1 ? '' : 's'} without use.`)
      }),

    stopUnpaid: (id) =>
      changes.run(id, async () => {
        const record = records.find(id)
        if (record?.status !== 'running') return
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        nowStopped(record, 'Stopped: the account is out of credits.')
      }),

    change(caller, id, request) {
      const before = requireOwned(caller, id)
      const record: SandboxRecord = {
        ...before,
        name: request.name ?? before.name,
        network: request.network ?? before.network,
        idleMinutes: request.idle_minutes === undefined ? before.idleMinutes : request.idle_minutes,
      }
      records.change(record)
      for (const activity of listChanges(before, record)) note(id, activity)
      return tell(record)
    },

    remove: (caller, id) =>
      changes.run(id, async () => {
        const record = requireOwned(caller, id)
        if (await options.isLeased(id)) {
          throw new AppError('sandbox/busy', `A domain is being bought for the sandbox ${record.name}.`)
        }
        await markRemoval(id)
        try {
          await call('machine.delete', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          if (records.find(id)) forget(record, 'Deleted.') // unless a reconnect has already done this
        } finally {
          await unmarkRemoval(id)
        }
      }),

    onEnded(id, reason) {
      const record = records.find(id)
      if (record?.status === 'running') nowStopped(record, reason)
    },

    onHostDown(ending) {
      const reason = ending === 'crashed' ? hostEnded : endedWithSteward
      for (const record of records.all()) if (record.status === 'running') nowStopped(record, reason)
    },

    adopt(record) {
      if (records.find(record.id)) throw new AppError('sandbox/not-found', 'This sandbox already exists.')
      records.add(record)
      note(record.id, { type: 'sandbox.created', description: 'Found on disk and adopted.' })
      return tell(record)
    },

    async reconcile(hostCall) {
      for (const id of await foundSandboxRepository.listMarked(store.read)) {
        try {
          await hostCall('machine.delete', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          const record = records.find(id)
          if (record) forget(record, 'Deleted.')
          await unmarkRemoval(id)
          log.info('finished an interrupted sandbox deletion', { id })
        } catch (error) {
          log.warn('failed to delete a sandbox, will retry', { id, error })
        }
      }
      const { result } = await hostCall('machine.list', {})
      const sandboxes = new Map(result.machines.map((instance) => [instance.id, instance]))
      for (const record of records.all()) {
        const machine = sandboxes.get(record.id)
        sandboxes.delete(record.id)
        if (creating.has(record.id)) continue
        if (machine && record.startedAtMs !== machine.startedAtMs) nowRunning(record, machine)
        else if (!machine && record.status === 'running') nowStopped(record, hostEnded)
        else if (!machine && record.status === 'provisioning') nowBroken(record, 'Creating it was interrupted.')
      }
      for (const stray of sandboxes.values()) {
        log.warn('stopping a sandbox without a record', { id: stray.id })
        await hostCall('machine.stop', { sandboxId: stray.id })
      }
    },
  }
}

function describeCreation(source: string | undefined): string {
  return source === undefined ? 'Created.' : `Created from a snapshot of ${source}.`
}

function listChanges(before: SandboxRecord, after: SandboxRecord): { type: ActivityType; description: string }[] {
  const { name, network, idleMinutes } = after
  const idle = idleMinutes === null ? 'No longer stops when idle.' : `Stops after ${idleMinutes} idle minutes.`
  return [
    ...(name === before.name
      ? []
      : [{ type: 'sandbox.renamed', description: `Renamed ${before.name} to ${name}.` } as const]),
    ...(network === before.network
      ? []
      : [{ type: 'sandbox.changed', description: `Network ${network} from the next start.` } as const]),
    ...(idleMinutes === before.idleMinutes ? [] : [{ type: 'sandbox.changed', description: idle } as const]),
  ]
}

function createFilesLostError(record: SandboxRecord, cause: AppError): AppError {
  return new AppError('sandbox/start-failed', `The files of the sandbox ${record.name} are missing.`, { cause })
}
