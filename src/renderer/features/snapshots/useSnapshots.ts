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
import { useLiveEvent } from '../../api/liveEvents.ts'
import { readAgain } from '../../api/readAgain.ts'

const snapshotsKey = (id: SandboxId) => ['snapshots', id] as const

/** Reads the snapshots. `useLiveSnapshots` keeps them up to date. */
export function useSnapshots({ id }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: snapshotsKey(id),
    queryFn: async ({ signal }) => (await agent(listSnapshots, { id }, { signal })).snapshots,
    enabled: visible,
  })
}

/** Refetches the snapshots of a sandbox when they change. */
export function useLiveSnapshots({ id }: Sandbox): void {
  const queryClient = useQueryClient()
  useLiveEvent((event) => {
    if (event.type === 'ready' || (event.type === 'snapshots.changed' && event.sandbox_id === id)) {
      void readAgain(queryClient, snapshotsKey(id))
    }
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
