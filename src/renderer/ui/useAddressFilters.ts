import { useEffect, useEffectEvent, useState } from 'react'
import type { z } from 'zod'
import { filtersOf, placeOf, useHash, withFilters } from './place.ts'

/** Browsers limit how often the address may change; nothing reads it while a word is being typed. */
const debounceMs = 300

/**
 * Filters of a list that the address keeps: for a reload, for Back, for a link to the list, and for the next visit of the
 * section. What equals `none` is left out of the address.
 *
 * @param none the list without filters
 */
export function useAddressFilters<Filters extends Record<string, string>>(
  schema: z.ZodType<Filters>,
  none: Filters,
): [Filters, (filters: Filters) => void] {
  const hash = useHash()
  const [place] = useState(() => placeOf(hash).join('/'))
  const [read, setRead] = useState(hash)
  const [filters, setFilters] = useState(() => parseFilters(hash, schema, none))
  // On the way to another screen its address is heard here too.
  if (hash !== read && placeOf(hash).join('/') === place) {
    setRead(hash)
    setFilters(parseFilters(hash, schema, none))
  }
  const write = useEffectEvent(() => {
    const { hash: now } = window.location
    if (placeOf(now).join('/') !== place) return
    const changed = Object.entries(filters).filter(([name, value]) => value !== none[name])
    const next = withFilters(now, Object.fromEntries(changed))
    if (next === now) return
    // Tells no listener, and counts as read: what is typed meanwhile stays.
    window.history.replaceState(window.history.state, '', next)
    setRead(next)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change begins the pause anew
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
  return schema.safeParse({ ...none, ...filtersOf(hash) }).data ?? none
}
