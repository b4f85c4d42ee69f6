import type { Sandbox } from '#shared/contract/sandboxes.ts'
import {
  createSnapshot,
  deleteSnapshot,
  forkSnapshot,
  listSnapshots,
  restoreSnapshot,
  type Snapshot,
} from '#shared/contract/snapshots.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import type { SnapshotRecord } from './snapshotRepository.ts'
import type { Snapshots } from './snapshots.ts'

export function createSnapshotRoutes({
  snapshots,
  toWire,
}: {
  snapshots: Snapshots
  toWire: (record: SandboxRecord) => Promise<Sandbox>
}): Endpoint[] {
  return [
    createEndpoint(createSnapshot, async ({ params, body }, { caller }) =>
      snapshotToWire(await snapshots.create(caller, params.id, body.name)),
    ),
    createEndpoint(listSnapshots, async ({ params }, { caller }) => {
      const listed = (await snapshots.list(caller, params.id)).map(snapshotToWire)
      return { snapshots: listed, data: listed, count: listed.length }
    }),
    createEndpoint(restoreSnapshot, async ({ params }, { caller }) =>
      toWire(await snapshots.restore(caller, params.id, params.snapshotId)),
    ),
    createEndpoint(forkSnapshot, async ({ params, body }, { caller }) =>
      toWire(await snapshots.fork(caller, { sandboxId: params.id, id: params.snapshotId }, body)),
    ),
    createEndpoint(deleteSnapshot, async ({ params }, { caller }) => {
      await snapshots.remove(caller, params.id, params.snapshotId)
      return { success: true, id: params.snapshotId, message: 'Snapshot deleted.' }
    }),
  ]
}

function snapshotToWire({ id, sandboxId, name, sizeBytes, createdAtMs }: SnapshotRecord): Snapshot {
  return { id, sandbox_id: sandboxId, name, size_bytes: sizeBytes, created_at: toIsoTime(createdAtMs) }
}
