import { z } from 'zod'
import { SandboxId, SnapshotId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Done, ForkSandbox, Sandbox, SandboxName, SandboxParams } from './sandboxes.ts'

/** Maximum number of snapshots per sandbox. */
export const maxSnapshots = 32

/** Files of a sandbox at a point in time, without processes and terminals. */
export const Snapshot = z.object({
  id: SnapshotId,
  sandbox_id: SandboxId,
  name: z.string(),
  /** Current size on disk. Smaller than the content if the file system shares blocks. */
  size_bytes: z.number(),
  created_at: IsoTime,
})
export type Snapshot = z.infer<typeof Snapshot>

const SnapshotParams = SandboxParams.extend({ snapshotId: SnapshotId })

export const createSnapshot = defineRoute({
  operation: 'snapshotCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/snapshots',
  summary: 'Create a snapshot of a sandbox',
  description: `Saves the files of a running or stopped sandbox. Running programs pause during the operation. Allows ${maxSnapshots} snapshots per sandbox (429 \`snapshot/too-many\`). Fails with 409 \`sandbox/busy\` while the sandbox is being created, or 507 \`file/no-space\`.`,
  example: { name: 'before the upgrade' },
  tag: 'Snapshots',
  refusals: [507],
  params: SandboxParams,
  body: z.object({ name: SandboxName.optional() }),
  response: Snapshot,
  status: 201,
  idempotent: true,
})

export const listSnapshots = defineRoute({
  operation: 'snapshotList',
  method: 'GET',
  path: '/v1/sandboxes/:id/snapshots',
  summary: 'List the snapshots of a sandbox, newest first',
  description: 'Returns all complete snapshots, without pagination. `data` repeats `snapshots`.',
  tag: 'Snapshots',
  params: SandboxParams,
  response: z.object({ snapshots: z.array(Snapshot), data: z.array(Snapshot), count: z.int() }),
})

export const restoreSnapshot = defineRoute({
  operation: 'snapshotRestore',
  method: 'POST',
  path: '/v1/sandboxes/:id/snapshots/:snapshotId/restore',
  summary: 'Restore a snapshot',
  description:
    'Replaces all files of the sandbox or none. Changes since the snapshot are lost. A running sandbox restarts, which ends its programs and terminals. Fails with 404 `snapshot/not-found` or 507 `file/no-space`.',
  tag: 'Snapshots',
  refusals: [507],
  params: SnapshotParams,
  response: Sandbox,
  idempotent: true,
})

export const forkSnapshot = defineRoute({
  operation: 'snapshotFork',
  method: 'POST',
  path: '/v1/sandboxes/:id/snapshots/:snapshotId/fork',
  summary: 'Create a sandbox from a snapshot',
  description:
    'Returns when the new sandbox is running. Copies the files, disk size, image, runtime and all omitted fields, but no exposed ports. Fails with 402 `credits/sandbox`, 503 `sandbox/capacity` or 507 `file/no-space`.',
  example: { name: 'copy', memory_mb: 1024 },
  tag: 'Snapshots',
  refusals: [402, 507],
  params: SnapshotParams,
  /** Absent fields are copied from the sandbox of the snapshot. Its name gets the suffix ` fork`. */
  body: ForkSandbox,
  response: Sandbox,
  status: 201,
  idempotent: true,
})

export const deleteSnapshot = defineRoute({
  operation: 'snapshotDelete',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/snapshots/:snapshotId',
  summary: 'Delete a snapshot',
  description:
    'This cannot be undone. The sandbox, and sandboxes created from the snapshot, remain unchanged. Fails with 404 `snapshot/not-found` if repeated.',
  tag: 'Snapshots',
  params: SnapshotParams,
  response: Done,
})
