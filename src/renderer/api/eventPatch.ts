import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { patchAndReadAgain } from './readAgain.ts'

/**
 * Puts what an event tells into a list. Only while the list is being read it is read again, because the answer on its
 * way may be older than the event: titles change often, and each must not cost a read.
 */
export function patchFromEvent<Data>(queryClient: QueryClient, queryKey: QueryKey, patch: (data: Data) => Data): void {
  if (queryClient.isFetching({ queryKey }) > 0) {
    void patchAndReadAgain(queryClient, queryKey, patch)
    return
  }
  queryClient.setQueriesData<Data>({ queryKey }, (data) => data && patch(data))
}
