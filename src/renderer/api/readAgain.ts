import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Aborts the read in progress and reads again, so that a response requested before a change never overwrites newer
 * data. The cache keeps its value until then.
 */
export async function readAgain(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  await queryClient.cancelQueries({ queryKey })
  await queryClient.invalidateQueries({ queryKey })
}

/**
 * Patches the cache with an event and reads again. `patch` is not called if nothing was read yet; the read starts after
 * the event and includes it.
 */
export async function patchAndReadAgain<Data>(
  queryClient: QueryClient,
  queryKey: QueryKey,
  patch: (data: Data) => Data,
): Promise<void> {
  // Cancelling takes hold before it is awaited, and may restore an older state: so it comes before the patch.
  const cancellation = queryClient.cancelQueries({ queryKey })
  queryClient.setQueriesData<Data>({ queryKey }, (data) => (data === undefined ? undefined : patch(data)))
  await cancellation
  await queryClient.invalidateQueries({ queryKey })
}
