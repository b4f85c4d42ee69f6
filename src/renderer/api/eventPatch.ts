import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { patchAndRefetch } from './readAgain.ts'

/**
 * Patches a list with an event. Refetches only if a read of the list is in flight, because its response may be older
 * than the event. Otherwise frequent events, such as title changes, would each cause a read.
 */
export function patchFromEvent<Data>(queryClient: QueryClient, queryKey: QueryKey, patch: (data: Data) => Data): void {
  if (queryClient.isFetching({ queryKey }) > 0) {
    void patchAndRefetch(queryClient, queryKey, patch)
    return
  }
  queryClient.setQueriesData<Data>({ queryKey }, (data) => data && patch(data))
}
