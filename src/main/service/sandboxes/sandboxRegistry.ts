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
import type { Query, Store, Transaction } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { Caller } from '../base/endpoint.ts'
import { chooseNetwork } from '../base/runtimeChoice.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { HostEnding } from '../host/hostConnection.ts'
import type { RuntimeReports } from '../host/runtimeReports.ts'
import type { Images } from '../images/images.ts'
import { foundSandboxRepository } from './foundSandboxRepository.ts'
import { type SandboxRecord, sandboxRepository } from './sandboxRepository.ts'
import { createSandboxSpec } from './sandboxWire.ts'

export type SandboxRegistry = {
  /** @throws AppError `sandbox/capacity`, and the errors of `start` */
  create(accountId: AccountId, request: Parsed<typeof createSandbox>['body'], from?: FilesOf): Promise<SandboxRecord>
  list(accountId: AccountId): Promise<SandboxRecord[]>
  /** @throws AppError `sandbox/not-found`, both for unknown ids and for sandboxes of other accounts */
  requireOwned(caller: Caller, id: SandboxId): Promise<SandboxRecord>
  /** @throws AppError `sandbox/not-found`, `sandbox/not-running` */
  running(caller: Caller, id: SandboxId): Promise<SandboxRecord>
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
  stopIdle(id: SandboxId, isIdle: (record: SandboxRecord) => boolean): Promise<void>
  /** Stops a sandbox whose account has insufficient credits. */
  stopUnpaid(id: SandboxId): Promise<void>
  change(caller: Caller, id: SandboxId, request: Parsed<typeof changeSandbox>['body']): Promise<SandboxRecord>
  remove(caller: Caller, id: SandboxId): Promise<void>
  /**
   * Adds a sandbox found on disk to the database.
   * @param adoptContents adds what belongs to the sandbox, in the same transaction
   * @throws AppError `sandbox/not-found` if the database already contains it
   */
  adopt(record: SandboxRecord, adoptContents: (tx: Transaction) => Promise<void>): Promise<SandboxRecord>
  findAccount(id: SandboxId): Promise<AccountId | undefined>
  find(id: SandboxId): Promise<SandboxRecord | undefined>
  /**
   * Publishes the current state of the sandbox, because one of its resources changed. Publications of one sandbox are in
   * order, and none follows that of its removal. Never rejects.
   */
  announce(id: SandboxId): Promise<void>
  /** Handles the host's report that a sandbox ended unexpectedly. */
  onEnded(id: SandboxId, reason: string): Promise<void>
  /** Handles the end of the host, with which all its sandboxes have ended. */
  onHostDown(ending: HostEnding): Promise<void>
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
  store: Store
  /** Whether a purchase for the sandbox is being settled or delivered. */
  isLeased: (query: Query, id: SandboxId) => Promise<boolean>
  call: HostCall
  runtimes: RuntimeReports
  images: Pick<Images, 'ready' | 'requireStored'>
  publish: (accountId: AccountId, event: ServiceEvent) => Promise<void>
  note: ActivityLog['note']
  recordForAccount: ActivityLog['recordForAccount']
  toWire: (record: SandboxRecord) => Promise<Sandbox>
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
  const { store, call, publish, note, now, log } = options
  const changes = createKeyedQueue()
  /** Sandboxes being created by a request of this process, which also finishes or removes them. */
  const creating = new Set<SandboxId>()

  const announcements = createKeyedQueue()
  const find = (id: SandboxId) => sandboxRepository.find(store.read, id)

  const unmarkRemoval = (id: SandboxId): Promise<void> =>
    store.write((tx) => foundSandboxRepository.unmarkRemoval(tx, id))

  const publishInOrder = (id: SandboxId, work: () => Promise<void>): Promise<void> =>
    announcements
      .run(id, work)
      .catch((error: unknown) => log.error('failed to publish a change of a sandbox', { id, error }))
  const announce = (id: SandboxId): Promise<void> =>
    publishInOrder(id, async () => {
      const record = await find(id)
      if (record) await publish(record.accountId, { type: 'sandbox.changed', sandbox: await options.toWire(record) })
    })

  /**
   * Writes the status of the current record, which may have been renamed since.
   * @param isCurrent whether the record is in the state that the change is about. Default: in any
   * @returns undefined if the sandbox was deleted, or is in another state
   */
  const setStatus = async (
    id: SandboxId,
    { status, activity, isCurrent = () => true }: StatusChange,
  ): Promise<SandboxRecord | undefined> => {
    const changed = await store.write(async (tx) => {
      const present = await sandboxRepository.find(tx, id)
      if (!present || !isCurrent(present)) return undefined
      const record = { ...present, ...status }
      await sandboxRepository.updateStatus(tx, record)
      return record
    })
    if (!changed) return undefined
    note(id, activity)
    await announce(id)
    return changed
  }
  const setRunning = (
    id: SandboxId,
    { startedAtMs, enforced }: RunningSandboxInstance,
    isCurrent?: StatusChange['isCurrent'],
  ) =>
    setStatus(id, {
      status: { status: 'running', statusReason: null, startedAtMs, enforced },
      activity: { type: 'sandbox.started', description: 'Started.' },
      isCurrent,
    })
  const setStopped = (
    id: SandboxId,
    why: string | { description: string; reason: string },
    isCurrent?: StatusChange['isCurrent'],
  ) => {
    const { description, reason } = typeof why === 'string' ? { description: why, reason: why } : why
    return setStatus(id, {
      status: { status: 'stopped', statusReason: reason, startedAtMs: null },
      activity: { type: 'sandbox.stopped', description },
      isCurrent,
    })
  }
  const setBroken = (id: SandboxId, reason: string, isCurrent?: StatusChange['isCurrent']) =>
    setStatus(id, {
      status: { status: 'error', statusReason: reason, startedAtMs: null },
      activity: { type: 'sandbox.failed', description: reason },
      isCurrent,
    })

  /** @param mark also marks its files for deletion, in the same transaction */
  const forget = async (record: SandboxRecord, why: string, mark?: 'mark'): Promise<void> => {
    const { id, accountId } = record
    const isRemoved = await store.write(async (tx) => {
      if (mark) await foundSandboxRepository.markRemoval(tx, id, now())
      return sandboxRepository.remove(tx, id)
    })
    if (!isRemoved) return // another request has done this
    options.recordForAccount(accountId, { type: 'sandbox.deleted', description: why, sandbox: record })
    await publishInOrder(id, () => publish(accountId, { type: 'sandbox.removed', id }))
  }

  const assertCapacity = async (query: Query): Promise<void> => {
    if ((await sandboxRepository.countActive(query)) < options.maxActive) return
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

  const requireOwned = async (caller: Caller, id: SandboxId): Promise<SandboxRecord> => {
    const record = await find(id)
    if (record?.accountId === caller.accountId) return record
    throw createMissingSandboxError()
  }

  const requireSettled = async (caller: Caller, id: SandboxId): Promise<SandboxRecord> => {
    const record = await requireOwned(caller, id)
    if (record.status !== 'provisioning') return record
    throw new AppError('sandbox/busy', `The sandbox ${record.name} is being created.`)
  }

  const startAgain = async (record: SandboxRecord): Promise<SandboxRecord> => {
    const { result } = await call('machine.start', createSandboxSpec(record), { deadlineMs: changeDeadlineMs })
    return (await setRunning(record.id, result)) ?? throwMissingSandbox()
  }

  /** Creates the files of an added sandbox, or removes it. */
  const finishCreation = async (
    record: SandboxRecord,
    image: ImageName | undefined,
    from: FilesOf | undefined,
  ): Promise<SandboxRecord> => {
    const { id } = record
    try {
      // Removing an image first marks it, then counts its sandboxes: either it finds this one, or this finds the mark.
      if (image !== undefined) options.images.requireStored(image)
      const source = from && (await find(from.sandboxId))
      note(id, { type: 'sandbox.created', description: describeCreation(source?.name) })
      await announce(id)
      const files = from && { from: { sandboxId: from.sandboxId, snapshotId: from.snapshotId } }
      return await changes.run(id, async () => {
        const { result } = await call(
          'machine.create',
          { ...createSandboxSpec(record), ...files },
          { deadlineMs: from?.deadlineMs ?? changeDeadlineMs },
        )
        return (await setRunning(id, result)) ?? throwMissingSandbox()
      })
    } catch (error) {
      await forget(record, 'Could not be created. Nothing of it is left.', 'mark')
      // The host may have created the sandbox without responding, so it is deleted in either case.
      call('machine.delete', { sandboxId: id })
        .then(() => unmarkRemoval(id))
        .catch((cause: unknown) => log.warn('sandbox cleanup deferred until the host reconnects', { id, error: cause }))
      throw error
    }
  }

  return {
    requireOwned,
    list: (accountId) => sandboxRepository.list(store.read, accountId),
    findAccount: async (id) => (await find(id))?.accountId,
    find,
    announce,

    async create(accountId, request, from) {
      const runtime = await options.runtimes.choose(await chooseRuntime(request))
      const network = request.network ?? chooseNetwork(options.defaultNetwork, runtime)
      await assertCapacity(store.read)
      const { vcpu, memory_mb: memoryMb, disk_gb: diskGb } = request
      await options.assertCredits(accountId, { vcpu, memoryMb, diskGb })
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
        await store.write(async (tx) => {
          await assertCapacity(tx) // other requests may have used it
          await sandboxRepository.add(tx, record)
        })
        return await finishCreation(record, request.image, from)
      } finally {
        creating.delete(id)
      }
    },

    async running(caller, id) {
      const record = await requireOwned(caller, id)
      if (record.status === 'running') return record
      throw new AppError('sandbox/not-running', `The sandbox ${record.name} is not running: it is ${record.status}.`)
    },

    start: (caller, id) =>
      changes.run(id, async () => {
        const record = await requireOwned(caller, id)
        if (record.status === 'running') return record
        await assertCapacity(store.read)
        await options.assertCredits(record.accountId, record)
        try {
          return await startAgain(record)
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'sandbox/not-found') throw error
          await setBroken(id, 'Its files are missing.')
          throw createFilesLostError(record, error)
        }
      }),

    stop: (caller, id) =>
      changes.run(id, async () => {
        const record = await requireOwned(caller, id)
        if (record.status !== 'running') return record
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        return (
          (await setStopped(id, { description: 'Stopped.', reason: 'Stopped on request.' })) ?? throwMissingSandbox()
        )
      }),

    async exclusively(caller, id, work) {
      await requireSettled(caller, id)
      return changes.run(id, async () => work(await requireSettled(caller, id)))
    },

    async replaceFiles(caller, id, { reason, replace }) {
      await requireSettled(caller, id)
      return changes.run(id, async () => {
        const record = await requireSettled(caller, id)
        const ran = record.status === 'running'
        // Name and network may have changed in the meantime.
        const restart = async () => startAgain((await find(id)) ?? record)
        if (ran) {
          await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          await setStopped(id, reason)
        }
        try {
          await replace(record)
        } catch (error) {
          if (ran) {
            await restart().catch((cause: unknown) =>
              log.error('failed to restart a sandbox that was stopped to change its files', { id, error: cause }),
            )
          }
          throw error
        }
        if (ran) return restart()
        return record.status === 'error'
          ? ((await setStopped(id, 'Its files are back.')) ?? throwMissingSandbox())
          : record
      })
    },

    stopIdle: (id, isIdle) =>
      changes.run(id, async () => {
        const record = await find(id)
        if (record?.status !== 'running' || !isIdle(record)) return
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        const { idleMinutes } = record
        await setStopped(id, `Stopped after ${idleMinutes} minute${idleMinutes === 1 ? '' : 's'} without use.`)
      }),

    stopUnpaid: (id) =>
      changes.run(id, async () => {
        const record = await find(id)
        if (record?.status !== 'running') return
        await call('machine.stop', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
        await setStopped(id, 'Stopped: the account is out of credits.')
      }),

    async change(caller, id, request) {
      const { before, record } = await store.write(async (tx) => {
        const before = await sandboxRepository.find(tx, id)
        if (before?.accountId !== caller.accountId) throw createMissingSandboxError()
        const record: SandboxRecord = {
          ...before,
          name: request.name ?? before.name,
          network: request.network ?? before.network,
          idleMinutes: request.idle_minutes === undefined ? before.idleMinutes : request.idle_minutes,
        }
        await sandboxRepository.change(tx, record)
        return { before, record }
      })
      for (const activity of listChanges(before, record)) note(id, activity)
      await announce(id)
      return record
    },

    remove: (caller, id) =>
      changes.run(id, async () => {
        const record = await requireOwned(caller, id)
        await store.write(async (tx) => {
          if (await options.isLeased(tx, id)) {
            throw new AppError('sandbox/busy', `A domain is being bought for the sandbox ${record.name}.`)
          }
          await foundSandboxRepository.markRemoval(tx, id, now())
        })
        try {
          await call('machine.delete', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          await forget(record, 'Deleted.')
        } finally {
          await unmarkRemoval(id)
        }
      }),

    async onEnded(id, reason) {
      const record = await find(id)
      if (record?.status === 'running') {
        await setStopped(id, reason, isSameRun(record))
        return
      }
      // The run that ended may be about to be recorded.
      await changes.run(id, async () => {
        await setStopped(id, reason, ({ status }) => status === 'running')
      })
    },

    async onHostDown(ending) {
      const reason = ending === 'crashed' ? hostEnded : endedWithSteward
      for (const record of await sandboxRepository.listAll(store.read)) {
        if (record.status === 'running') await setStopped(record.id, reason, isSameRun(record))
      }
    },

    async adopt(record, adoptContents) {
      await store.write(async (tx) => {
        const isAdded = await sandboxRepository.add(tx, record)
        if (!isAdded) throw new AppError('sandbox/not-found', 'This sandbox already exists.')
        await adoptContents(tx)
      })
      note(record.id, { type: 'sandbox.created', description: 'Found on disk and adopted.' })
      await announce(record.id)
      return record
    },

    async reconcile(hostCall) {
      for (const id of await foundSandboxRepository.listMarked(store.read)) {
        try {
          await hostCall('machine.delete', { sandboxId: id }, { deadlineMs: changeDeadlineMs })
          const record = await find(id)
          if (record) await forget(record, 'Deleted.')
          await unmarkRemoval(id)
          log.info('finished an interrupted sandbox deletion', { id })
        } catch (error) {
          log.warn('failed to delete a sandbox, will retry', { id, error })
        }
      }
      const { result } = await hostCall('machine.list', {})
      const sandboxes = new Map(result.machines.map((instance) => [instance.id, instance]))
      for (const record of await sandboxRepository.listAll(store.read)) {
        const machine = sandboxes.get(record.id)
        sandboxes.delete(record.id)
        if (creating.has(record.id)) continue
        const { id, status } = record
        if (machine && record.startedAtMs !== machine.startedAtMs) await setRunning(id, machine, isSameRun(record))
        else if (!machine && status === 'running') await setStopped(id, hostEnded, isSameRun(record))
        else if (!machine && status === 'provisioning')
          await setBroken(id, 'Creating it was interrupted.', isSameRun(record))
      }
      for (const stray of sandboxes.values()) {
        log.warn('stopping a sandbox without a record', { id: stray.id })
        await hostCall('machine.stop', { sandboxId: stray.id })
      }
    },
  }
}

type StatusChange = {
  status: Partial<Pick<SandboxRecord, 'status' | 'statusReason' | 'startedAtMs' | 'enforced'>>
  activity: { type: ActivityType; description: string }
  isCurrent?: ((record: SandboxRecord) => boolean) | undefined
}

/** Returns a condition for a change that was decided on this record: no other run has begun or ended since. */
function isSameRun({ status, startedAtMs }: SandboxRecord): (record: SandboxRecord) => boolean {
  return (present) => present.status === status && present.startedAtMs === startedAtMs
}

function createMissingSandboxError(): AppError {
  return new AppError('sandbox/not-found', 'Sandbox not found or access denied')
}

/** The sandbox was deleted during its change. */
function throwMissingSandbox(): never {
  throw createMissingSandboxError()
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
