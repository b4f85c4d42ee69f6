import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query'
import { listFiles } from '#shared/contract/files.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { describeError } from '../../ui/describeError.ts'
import type { FolderReading } from './tree/treeRows.ts'

/** Polling interval in milliseconds. Files written by programs in the sandbox cause no events. */
const pollIntervalMs = 4000

export const folderKey = (sandboxId: SandboxId, path: string) => ['files', sandboxId, path] as const

/** Reads the open folders. Refetches while `active`, when the window regains focus, and on request. */
export function useFolders(sandboxId: SandboxId, paths: readonly string[], active: boolean) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const results = useQueries({
    queries: paths.map((path) => ({
      queryKey: folderKey(sandboxId, path),
      queryFn: ({ signal }: { signal: AbortSignal }) => agent(listFiles, { id: sandboxId, path }, { signal }),
      enabled: active,
      staleTime: 0,
      refetchOnWindowFocus: true,
      refetchInterval: pollIntervalMs,
    })),
  })
  const readings = new Map<string, FolderReading>(
    paths.map((path, index) => {
      const { data, error } = results[index] ?? {}
      // Drops earlier data if a refetch fails.
      if (error) return [path, { failure: describeError(error).message }]
      return [path, data ? { entries: data.entries, truncated: data.truncated } : {}]
    }),
  )
  return { readings, reread: () => refetchFiles(queryClient, sandboxId) }
}

export async function refetchFiles(queryClient: QueryClient, sandboxId: SandboxId): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['files', sandboxId] })
}
