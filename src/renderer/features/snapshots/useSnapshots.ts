import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import {
  createSnapshot,
  deleteSnapshot,
  forkSnapshot,
  listSnapshots,
  restoreSnapshot,
  type Snapshot,
} from '#shared/contract/snapshots.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { readAgain } from '../../api/readAgain.ts'

export const allSnapshotsKey = ['snapshots'] as const
export const snapshotsKey = (id: SandboxId) => [...allSnapshotsKey, id] as const

export function useSnapshots({ id }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: snapshotsKey(id),
    queryFn: async ({ signal }) => (await agent(listSnapshots, { id }, { signal })).snapshots,
    enabled: visible,
  })
}

/** Actions on snapshots. Each rejects, so that the form or dialog can show the error. */
export type SnapshotActions = {
  take(name: string): Promise<void>
  restore(snapshot: Snapshot): Promise<void>
  fork(snapshot: Snapshot, name: string): Promise<Sandbox>
  remove(snapshot: Snapshot): Promise<void>
}

export function useSnapshotActions({ id }: Sandbox): SnapshotActions {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const again = () => readAgain(queryClient, snapshotsKey(id))
  return {
    async take(name) {
      await agent(createSnapshot, { id, ...(name.trim() !== '' && { name: name.trim() }) })
      await again()
    },
    async restore(snapshot) {
      await agent(restoreSnapshot, { id, snapshotId: snapshot.id })
    },
    async fork(snapshot, name) {
      return agent(forkSnapshot, { id, snapshotId: snapshot.id, ...(name.trim() !== '' && { name: name.trim() }) })
    },
    async remove(snapshot) {
      await agent(deleteSnapshot, { id, snapshotId: snapshot.id })
      await again()
    },
  }
}
