import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceEvent } from '#shared/contract/events.ts'
import { ImageName } from '#shared/contract/images.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { sandboxLimits } from '#shared/contract/sandboxes.ts'
import { type forkSnapshot, maxSnapshots } from '#shared/contract/snapshots.ts'
import { type AccountId, type SandboxId, SnapshotId } from '#shared/ids.ts'
import type { Query, Store } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { Caller } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { type SnapshotRecord, snapshotRepository } from './snapshotRepository.ts'

/** Each change waits for pending changes of the sandbox. */
export type Snapshots = {
  /**
   * @throws AppError `snapshot/too-many`, `snapshot/failed`, `file/no-space`, or `sandbox/busy` while the sandbox is
   * being created
   */
  create(caller: Caller, sandboxId: SandboxId, name: string | undefined): Promise<SnapshotRecord>
  /** Newest first. */
  list(caller: Caller, sandboxId: SandboxId): Promise<SnapshotRecord[]>
  /** @throws AppError `snapshot/not-found`, as do `fork` and `remove` */
  restore(caller: Caller, sandboxId: SandboxId, id: SnapshotId): Promise<SandboxRecord>
  fork(caller: Caller, from: SnapshotRef, request: Parsed<typeof forkSnapshot>['body']): Promise<SandboxRecord>
  remove(caller: Caller, sandboxId: SandboxId, id: SnapshotId): Promise<void>
  /** Completes snapshots whose files are complete on the host, and removes other unfinished ones. */
  reconcile(call: HostCall): Promise<void>
}

type SnapshotRef = { sandboxId: SandboxId; id: SnapshotId }

type Options = {
  store: Store
  sandboxes: Pick<SandboxRegistry, 'requireOwned' | 'find' | 'exclusively' | 'replaceFiles' | 'create'>
  call: HostCall
  publish: (accountId: AccountId, event: ServiceEvent) => void
  note: ActivityLog['note']
  /** Creates an id of 24 hexadecimal characters. */
  newId: () => string
  now: () => number
  log: Log
}

/** The host has a shorter timeout. */
const copyDeadlineMs = 660_000
/** Size of a snapshot if it is unknown. Zero would mark the snapshot as unfinished. */
const unknownBytes = 1
const forkSuffix = ' fork'

export function createSnapshots({ store, sandboxes, call, publish, note, newId, now, log }: Options): Snapshots {
  /** Snapshots being created by a request of this process, which also finishes or removes them. */
  const making = new Set<SnapshotId>()

  const tell = ({ accountId, id }: SandboxRecord): void => {
    publish(accountId, { type: 'snapshots.changed', sandbox_id: id })
  }

  /** Removes the record of a snapshot whose files are missing. */
  const withFiles = async <T>(sandbox: SandboxRecord, id: SnapshotId, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError && error.code === 'snapshot/not-found') {
        await store.write((tx) => snapshotRepository.remove(tx, id))
        tell(sandbox)
      }
      throw error
    }
  }
  const requireSnapshot = (sandboxId: SandboxId, id: SnapshotId) => requireRecord(store.read, sandboxId, id)

  const createFiles = async ({ id, sandboxId, runtime }: SnapshotRef & Pick<SandboxRecord, 'runtime'>) => {
    try {
      const ref = { sandboxId, snapshotId: id, runtime }
      const { result } = await call('snapshot.create', ref, { deadlineMs: copyDeadlineMs })
      await store.write((tx) => snapshotRepository.complete(tx, id, result.sizeBytes))
    } catch (error) {
      // The host may have created the snapshot without responding.
      await discard({ store, log }, call, { id, sandboxId, runtime })
      throw error
    }
  }

  return {
    create: (caller, sandboxId, name) =>
      sandboxes.exclusively(caller, sandboxId, async (sandbox) => {
        const id = SnapshotId.parse(`snap_${newId()}`)
        const begun = { id, sandboxId, name: name ?? `snapshot-${id.slice(5, 13)}`, createdAtMs: now() }
        making.add(id)
        try {
          await beginBelowLimit(store, sandbox, begun)
          await createFiles({ ...begun, runtime: sandbox.runtime })
        } finally {
          making.delete(id)
        }
        note(sandboxId, { type: 'snapshot.created', description: `Saved the snapshot “${begun.name}”.` })
        tell(sandbox)
        return requireSnapshot(sandboxId, id)
      }),

    list: async (caller, sandboxId) =>
      snapshotRepository.list(store.read, (await sandboxes.requireOwned(caller, sandboxId)).id),

    async restore(caller, sandboxId, id) {
      await sandboxes.requireOwned(caller, sandboxId)
      const { name } = await requireSnapshot(sandboxId, id)
      return await sandboxes.replaceFiles(caller, sandboxId, {
        reason: `Stopped to restore the snapshot “${name}”.`,
        async replace(sandbox) {
          await requireSnapshot(sandboxId, id)
          await withFiles(sandbox, id, async () => {
            const ref = { sandboxId, snapshotId: id, runtime: sandbox.runtime }
            await call('snapshot.restore', ref, { deadlineMs: copyDeadlineMs })
            note(sandboxId, { type: 'snapshot.restored', description: `Restored the snapshot “${name}”.` })
          })
        },
      })
    },

    fork: (caller, { sandboxId, id }, request) =>
      sandboxes.exclusively(caller, sandboxId, async (sandbox) => {
        await requireSnapshot(sandboxId, id)
        const files = { sandboxId, snapshotId: id, deadlineMs: copyDeadlineMs }
        return withFiles(sandbox, id, () =>
          sandboxes.create(sandbox.accountId, toRequestedSettings(sandbox, request), files),
        )
      }),

    remove: (caller, sandboxId, id) =>
      sandboxes.exclusively(caller, sandboxId, async (sandbox) => {
        const { name } = await requireSnapshot(sandboxId, id)
        const ref = { sandboxId, snapshotId: id, runtime: sandbox.runtime }
        await call('snapshot.delete', ref, { deadlineMs: copyDeadlineMs })
        await store.write((tx) => snapshotRepository.remove(tx, id))
        note(sandboxId, { type: 'snapshot.deleted', description: `Deleted the snapshot “${name}”.` })
        tell(sandbox)
      }),

    async reconcile(hostCall) {
      const listed = await snapshotRepository.listIncomplete(store.read)
      const abandoned = new Set(listed.filter(({ id }) => !making.has(id)).map(({ id }) => id))
      // A snapshot that a request has finished since then is complete.
      const incomplete = (await snapshotRepository.listIncomplete(store.read)).filter(({ id }) => abandoned.has(id))
      if (incomplete.length === 0) return
      const { result } = await hostCall('machine.stored', {})
      for (const { id, sandboxId, name } of incomplete) {
        const sandbox = await sandboxes.find(sandboxId)
        const stored = result.machines.find((instance) => instance.id === sandboxId)
        if (!sandbox) continue
        if (stored?.snapshots.includes(id)) {
          const sizeBytes = stored.label?.snapshots.find((it) => it.id === id)?.sizeBytes ?? unknownBytes
          await store.write((tx) => snapshotRepository.complete(tx, id, sizeBytes))
          note(sandboxId, { type: 'snapshot.created', description: `Saved the snapshot “${name}”.` })
        } else await discard({ store, log }, hostCall, { id, sandboxId, runtime: sandbox.runtime })
      }
    },
  }
}

/** @throws AppError `snapshot/too-many` */
async function beginBelowLimit(
  store: Store,
  { name }: SandboxRecord,
  begun: Omit<SnapshotRecord, 'sizeBytes'>,
): Promise<void> {
  await store.write(async (tx) => {
    if ((await snapshotRepository.list(tx, begun.sandboxId)).length >= maxSnapshots) {
      throw new AppError('snapshot/too-many', `${name} has ${maxSnapshots} snapshots, which is the maximum.`)
    }
    await snapshotRepository.begin(tx, begun)
  })
}

/** @throws AppError `snapshot/not-found` */
async function requireRecord(read: Query, sandboxId: SandboxId, id: SnapshotId): Promise<SnapshotRecord> {
  const record = await snapshotRepository.find(read, sandboxId, id)
  if (record) return record
  throw new AppError('snapshot/not-found', `This sandbox has no snapshot ${id}.`)
}

/** Deletes a snapshot on the host, and its record. Never rejects; the next `reconcile` retries. */
async function discard(
  { store, log }: Pick<Options, 'store' | 'log'>,
  call: HostCall,
  { id, sandboxId, runtime }: SnapshotRef & Pick<SandboxRecord, 'runtime'>,
): Promise<void> {
  try {
    await call('snapshot.delete', { sandboxId, snapshotId: id, runtime }, { deadlineMs: copyDeadlineMs })
    await store.write((tx) => snapshotRepository.remove(tx, id))
  } catch (error) {
    log.warn('snapshot cleanup deferred until the host reconnects', { id, error })
  }
}

/** Settings that are not set are copied from the original sandbox. */
function toRequestedSettings(
  sandbox: SandboxRecord,
  request: Parsed<typeof forkSnapshot>['body'],
): Parameters<SandboxRegistry['create']>[1] {
  const name = [...sandbox.name].slice(0, sandboxLimits.nameLength - forkSuffix.length).join('')
  return {
    name: request.name ?? `${name}${forkSuffix}`.slice(0, sandboxLimits.nameLength),
    vcpu: request.vcpu ?? sandbox.vcpu,
    memory_mb: request.memory_mb ?? sandbox.memoryMb,
    disk_gb: sandbox.diskGb,
    region: sandbox.region,
    runtime: sandbox.runtime,
    image: sandbox.image === null ? undefined : ImageName.parse(sandbox.image),
    network: request.network ?? sandbox.network,
    idle_minutes: request.idle_minutes === undefined ? sandbox.idleMinutes : request.idle_minutes,
  }
}
