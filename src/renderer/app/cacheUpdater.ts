import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { type CacheRule, type CacheRules, cacheRules } from './cacheRules.ts'

export type CacheUpdater = {
  apply(event: LocalEvent): void
  /** Cancels delayed refetches. */
  close(): void
}

/** Delay of `refetchSoon`. */
export const debounceMs = 300

/** Applies the cache rules to events. */
export function createCacheUpdater(queryClient: QueryClient, rules: CacheRules = cacheRules): CacheUpdater {
  const pending = new Map<string, QueryKey>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function refetchSoon(key: QueryKey): void {
    invalidateUnused(queryClient, key)
    pending.set(hashKey(key), key)
    timer ??= setTimeout(() => {
      timer = undefined
      const keys = [...pending.values()]
      pending.clear()
      for (const it of keys) refetch(queryClient, it)
    }, debounceMs)
  }

  return {
    apply(event) {
      const rule = rules[event.type] as CacheRule // the table pairs each type with its rule
      const list = (keys: CacheRule['refetch'] = []) => (typeof keys === 'function' ? keys(event) : keys)
      rule.patch?.(queryClient, event)
      for (const key of rule.invalidateUnused ?? []) invalidateUnused(queryClient, key)
      for (const key of list(rule.refetch)) refetch(queryClient, key)
      for (const key of list(rule.refetchSoon)) refetchSoon(key)
    },
    close() {
      clearTimeout(timer)
      timer = undefined
      pending.clear()
    },
  }
}

/** Refetches queries in use. Cancels their fetches in flight, whose responses may be older than the event. */
function refetch(queryClient: QueryClient, queryKey: QueryKey): void {
  invalidateUnused(queryClient, queryKey)
  void queryClient.cancelQueries({ queryKey, type: 'active' }).then(() => queryClient.invalidateQueries({ queryKey }))
}

/** Invalidates queries without observers, so that they are refetched on next use. */
function invalidateUnused(queryClient: QueryClient, queryKey: QueryKey): void {
  for (const query of queryClient.getQueryCache().findAll({ queryKey, type: 'inactive' })) {
    query.invalidate()
    // A fetch in flight may have started before the change. Its caller still receives the result.
    query.promise?.then(
      () => query.invalidate(),
      () => {},
    )
  }
}
