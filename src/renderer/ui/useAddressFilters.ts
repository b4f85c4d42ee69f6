import { useEffect, useEffectEvent, useState } from 'react'
import type { z } from 'zod'
import { parseRoute, parseRouteFilters, useHash, withFilters } from './route.ts'

/** Debounce for address changes while typing, in milliseconds, because browsers limit their rate. */
const debounceMs = 300

/**
 * Stores the filters of a list in the address, so that they survive reloads, history navigation, links and the next
 * visit of the section. Values equal to those of `none` are omitted.
 * @param none filters of the unfiltered list
 */
export function useAddressFilters<Filters extends Record<string, string>>(
  schema: z.ZodType<Filters>,
  none: Filters,
): [Filters, (filters: Filters) => void] {
  const hash = useHash()
  const [place] = useState(() => parseRoute(hash).join('/'))
  const [read, setRead] = useState(hash)
  const [filters, setFilters] = useState(() => parseFilters(hash, schema, none))
  // The address may change to another screen before this component unmounts.
  if (hash !== read && parseRoute(hash).join('/') === place) {
    setRead(hash)
    setFilters(parseFilters(hash, schema, none))
  }
  const write = useEffectEvent(() => {
    const { hash: now } = window.location
    if (parseRoute(now).join('/') !== place) return
    const changed = Object.entries(filters).filter(([name, value]) => value !== none[name])
    const next = withFilters(now, Object.fromEntries(changed))
    if (next === now) return
    // Does not notify listeners, and counts as read so that text typed later is preserved.
    window.history.replaceState(window.history.state, '', next)
    setRead(next)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change restarts the delay
  useEffect(() => {
    const timer = setTimeout(write, debounceMs)
    return () => clearTimeout(timer)
  }, [filters])
  return [filters, setFilters]
}

function parseFilters<Filters extends Record<string, string>>(
  hash: string,
  schema: z.ZodType<Filters>,
  none: Filters,
): Filters {
  return schema.safeParse({ ...none, ...parseRouteFilters(hash) }).data ?? none
}
