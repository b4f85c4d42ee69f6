import { useQuery, useQueryClient } from '@tanstack/react-query'
import { listFiles } from '#shared/contract/files.ts'
import type { Output } from '#shared/contract/route.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { getDirname } from './paths.ts'
import { folderKey } from './useFolders.ts'

type Listing = Output<typeof listFiles>
export type NamedFile = { path: string; name: string; folder: string }

const maxCached = 500
const cacheMs = 10_000

/**
 * Returns files of a sandbox from folders loaded in this window. If the text is a path, also lists its folder:
 * `/var/log/` returns the entries in it. Returns none for an empty text.
 */
export function useFilesByName(sandboxId: SandboxId | undefined, text: string): readonly NamedFile[] {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const written = text.trim()
  const folder = written.startsWith('/') ? getDirname(written) : undefined
  useQuery({
    // Defined while the query is enabled.
    queryKey: folderKey(sandboxId ?? ('' as SandboxId), folder ?? ''),
    queryFn: ({ signal }) => agent(listFiles, { id: sandboxId as SandboxId, path: folder ?? '/' }, { signal }),
    enabled: sandboxId !== undefined && folder !== undefined,
    staleTime: cacheMs,
    retry: false,
  })
  if (sandboxId === undefined || written === '') return []
  const listings = queryClient.getQueriesData<Listing>({ queryKey: ['files', sandboxId] })
  return listings
    .flatMap(([, listing]) => listing?.entries ?? [])
    .filter(({ type }) => type === 'file')
    .slice(0, maxCached)
    .map(({ path, name }) => ({ path, name, folder: getDirname(path) }))
}
