import { createCoalescedRuns } from '#platform/concurrency/coalescedRuns.ts'
import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { FoundSandbox } from '#shared/contract/foundSandboxes.ts'
import type { SandboxLabel, StoredSandbox } from '#shared/contract/hostIpc.ts'
import { ImageName } from '#shared/contract/images.ts'
import { sandboxLimits } from '#shared/contract/sandboxes.ts'
import { type AccountId, type SandboxId, type SnapshotId, shortenId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Store, Transaction } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { foundSandboxRepository } from '../sandboxes/foundSandboxRepository.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxRecord, sandboxRepository } from '../sandboxes/sandboxRepository.ts'
import type { SnapshotRecord, snapshotRepository } from '../snapshots/snapshotRepository.ts'

/** Sandboxes and snapshots with files on disk but without a row in the database. */
export type FoundSandboxes = {
  list(): Promise<FoundSandbox[]>
  /** Adds a sandbox to the database as stopped, with its snapshots. @throws AppError `sandbox/not-found` */
  adopt(id: SandboxId, owner: AccountId): Promise<SandboxRecord>
  /** Deletes the files of a sandbox. @throws AppError `sandbox/not-found` */
  remove(id: SandboxId, owner: AccountId): Promise<void>
  /** Writes the record of a sandbox to the label beside its disk. The next `reconcile` retries failures. */
  label(id: SandboxId): void
  /** Adopts unknown snapshots of known sandboxes, and labels the disks of all known sandboxes. */
  reconcile(hostCall: HostCall): Promise<void>
}

type Options = {
  records: Pick<typeof sandboxRepository, 'find' | 'listAll'>
  store: Store
  removals: typeof foundSandboxRepository
  snapshots: Pick<typeof snapshotRepository, 'list' | 'listIds' | 'adopt'>
  sandboxes: Pick<SandboxRegistry, 'adopt'>
  hasAccount: (id: AccountId) => Promise<boolean>
  call: HostCall
  recordForAccount: ActivityLog['recordForAccount']
  now: () => number
  log: Log
}

const removeDeadlineMs = 90_000
const labelsPerCall = 100

export function createFoundSandboxes(options: Options): FoundSandboxes {
  const { records, store, removals, snapshots, call, now, log } = options
  /** Adopting and deleting a sandbox run one after the other, each based on the current state. */
  const changes = createKeyedQueue()
  const labels = createCoalescedRuns()

  const toLabel = async (record: SandboxRecord): Promise<SandboxLabel> =>
    createLabel(record, {
      databaseId: await removals.getDatabaseId(store.read),
      snapshots: await snapshots.list(store.read, record.id),
    })

  const listStored = async (hostCall: HostCall): Promise<StoredSandbox[]> =>
    (await hostCall('machine.stored', {})).result.machines

  /** Excludes sandboxes that are created or deleted during the listing. */
  const listUnknown = async (): Promise<StoredSandbox[]> => {
    const before = await removals.listRecorded(store.read)
    const stored = await listStored(call)
    const after = await removals.listRecorded(store.read)
    return stored.filter(({ id }) => !before.has(id) && !after.has(id))
  }

  const require = async (id: SandboxId): Promise<StoredSandbox> => {
    const stored = (await listUnknown()).find((instance) => instance.id === id)
    if (stored) return stored
    throw new AppError('sandbox/not-found', 'This found sandbox was already adopted or deleted.')
  }

  const toSnapshotRecord = ({ id: sandboxId, label }: StoredSandbox, id: SnapshotId): SnapshotRecord => {
    const { name, createdAtMs, sizeBytes } = label?.snapshots.find((it) => it.id === id) ?? {}
    return {
      ...{ id, sandboxId, name: name ?? `found-${id.slice(5, 13)}` },
      ...{ createdAtMs: createdAtMs ?? now(), sizeBytes: sizeBytes ?? 1 },
    }
  }
  /** @returns the adopted ones */
  const adoptSnapshots = async (tx: Transaction, machine: StoredSandbox): Promise<SnapshotId[]> => {
    const adopted: SnapshotId[] = []
    for (const id of machine.snapshots) {
      if (await snapshots.adopt(tx, toSnapshotRecord(machine, id))) adopted.push(id)
    }
    return adopted
  }

  const findAccount = async (label: SandboxLabel | null): Promise<AccountId | undefined> =>
    label && (await options.hasAccount(label.accountId)) ? label.accountId : undefined

  return {
    async list() {
      const unknown = await listUnknown()
      const databaseId = await removals.getDatabaseId(store.read)
      return Promise.all(
        unknown.map(async (machine) => ({
          id: machine.id,
          short_id: shortenId(machine.id),
          name: machine.label?.name ?? null,
          runtime: machine.runtime,
          created_at: machine.label ? toIsoTime(machine.label.createdAtMs) : null,
          account_id: (await findAccount(machine.label)) ?? null,
          same_database: machine.label?.databaseId === databaseId,
          snapshot_count: machine.snapshots.length,
        })),
      )
    },

    adopt: (id, owner) =>
      changes.run(id, async () => {
        const machine = await require(id)
        const accountId = (await findAccount(machine.label)) ?? owner
        const record = toRecord(machine, accountId, now())
        return options.sandboxes.adopt(record, async (tx) => void (await adoptSnapshots(tx, machine)))
      }),

    remove: (id, owner) =>
      changes.run(id, async () => {
        const { label } = await require(id)
        await store.write((tx) => removals.markRemoval(tx, id, now()))
        try {
          await call('machine.delete', { sandboxId: id }, { deadlineMs: removeDeadlineMs })
        } finally {
          await store.write((tx) => removals.unmarkRemoval(tx, id)) // files that remain after an error are found again
        }
        options.recordForAccount(owner, {
          type: 'sandbox.deleted',
          description: 'Deleted, with its files. The database did not know it.',
          sandbox: { id, name: label?.name ?? shortenId(id) },
        })
      }),

    label(id) {
      const labelled = labels.run(id, async () => {
        const record = await records.find(store.read, id)
        if (record) await call('machine.label', { labels: [await toLabel(record)] })
      })
      labelled.catch((error: unknown) => log.debug('failed to label a disk', { id, error }))
    },

    async reconcile(hostCall) {
      const before = await snapshots.listIds(store.read)
      const stored = await listStored(hostCall)
      const existing = new Set([...before, ...(await snapshots.listIds(store.read))])
      for (const machine of stored) {
        if (!(await records.find(store.read, machine.id))) {
          log.warn('found files of a sandbox missing from the database', { id: machine.id, name: machine.label?.name })
          continue
        }
        const unknown = machine.snapshots.filter((id) => !existing.has(id))
        if (unknown.length === 0) continue
        const adopted = await store.write((tx) => adoptSnapshots(tx, { ...machine, snapshots: unknown }))
        for (const snapshotId of adopted) {
          log.warn('adopted a snapshot missing from the database', { sandboxId: machine.id, snapshotId })
        }
      }
      const all = await records.listAll(store.read)
      for (let from = 0; from < all.length; from += labelsPerCall) {
        const page = await Promise.all(all.slice(from, from + labelsPerCall).map(toLabel))
        await hostCall('machine.label', { labels: page })
      }
    },
  }
}

function createLabel(
  record: SandboxRecord,
  { databaseId, snapshots }: { databaseId: string; snapshots: readonly SnapshotRecord[] },
): SandboxLabel {
  const { id, accountId, name, region, runtime, vcpu, memoryMb, diskGb, network, idleMinutes, createdAtMs } = record
  return {
    ...{ id, databaseId, accountId, name, region, runtime, vcpu, memoryMb, diskGb },
    image: record.image === null ? null : ImageName.parse(record.image),
    ...{ network, idleMinutes, createdAtMs },
    snapshots: snapshots.map(({ sandboxId: _, ...snapshot }) => snapshot),
  }
}

function toRecord({ id, runtime, label }: StoredSandbox, accountId: AccountId, nowMs: number): SandboxRecord {
  const limits = sandboxLimits
  return {
    ...{ id, accountId, runtime },
    name: label?.name ?? `found-${shortenId(id)}`,
    vcpu: label?.vcpu ?? limits.vcpu.default,
    memoryMb: label?.memoryMb ?? limits.memoryMb.default,
    diskGb: label?.diskGb ?? limits.diskGb.default,
    region: label?.region ?? 'eu-north',
    image: label?.image ?? null,
    network: label?.network ?? 'none',
    idleMinutes: label?.idleMinutes ?? null,
    enforced: { memory: false, cpu: false, disk: false, processes: false },
    status: 'stopped',
    statusReason: 'Found on disk and adopted.',
    createdAtMs: label?.createdAtMs ?? nowMs,
    startedAtMs: null,
  }
}
