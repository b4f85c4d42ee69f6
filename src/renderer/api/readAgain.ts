import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Cancels the read in flight and refetches, so that a response requested before a change never overwrites newer data.
 * The cached value remains until the refetch completes.
 */
export async function readAgain(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  await queryClient.cancelQueries({ queryKey })
  await queryClient.invalidateQueries({ queryKey })
}

/**
 * Patches the cache with an event and refetches. `patch` is not called if nothing is cached. The refetch starts after
 * the event and therefore includes it.
 */
export async function patchAndRefetch<Data>(
  queryClient: QueryClient,
  queryKey: QueryKey,
  patch: (data: Data) => Data,
): Promise<void> {
  // Cancelling takes effect before it is awaited and may restore an older state, so it must precede the patch.
  const cancellation = queryClient.cancelQueries({ queryKey })
  queryClient.setQueriesData<Data>({ queryKey }, (data) => (data === undefined ? undefined : patch(data)))
  await cancellation
  await queryClient.invalidateQueries({ queryKey })
}
