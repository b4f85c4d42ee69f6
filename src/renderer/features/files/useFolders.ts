import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query'
import { listFiles } from '#shared/contract/files.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { describeError } from '../../ui/describeError.ts'
import type { FolderReading } from './tree/treeRows.ts'

/** Interval of polling, in milliseconds: there are no events for files that programs in the sandbox write. */
const rereadMs = 4000

export const folderKey = (sandboxId: SandboxId, path: string) => ['files', sandboxId, path] as const

/** Reads the folders that are open, and again while `active`, when the window gets the focus, and when asked. */
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
      refetchInterval: rereadMs,
    })),
  })
  const readings = new Map<string, FolderReading>(
    paths.map((path, index) => {
      const { data, error } = results[index] ?? {}
      // Drops earlier data when reading again fails.
      if (error) return [path, { failure: describeError(error).message }]
      return [path, data ? { entries: data.entries, truncated: data.truncated } : {}]
    }),
  )
  return { readings, reread: () => refetchFiles(queryClient, sandboxId) }
}

export async function refetchFiles(queryClient: QueryClient, sandboxId: SandboxId): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['files', sandboxId] })
}
