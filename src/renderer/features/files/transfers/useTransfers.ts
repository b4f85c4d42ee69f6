import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { SandboxId } from '#shared/ids.ts'
import { getDirname } from '../paths.ts'
import { folderKey } from '../useFolders.ts'
import { transferNotes } from './storedTransfers.ts'
import type { Transfer } from './transferList.ts'
import { createTransferQueue, type TransferQueue } from './transferQueue.ts'

export function useTransfers(sandboxId: SandboxId): { queue: TransferQueue; transfers: readonly Transfer[] } {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [queue] = useState(() =>
    createTransferQueue({
      sandboxId,
      agent,
      notes: transferNotes(sandboxId),
      onDone: ({ path }) => void queryClient.invalidateQueries({ queryKey: folderKey(sandboxId, getDirname(path)) }),
      newId: () => crypto.randomUUID(),
      now: () => performance.now(),
    }),
  )
  useEffect(() => () => queue.close(), [queue])
  return { queue, transfers: useSyncExternalStore(queue.subscribe, queue.list) }
}
