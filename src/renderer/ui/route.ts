import { useSyncExternalStore } from 'react'

/** Returns the route: the segments of the URL after `#/`, starting with the section (`#/settings/keys`). */
export function useRoute(): readonly string[] {
  return parseRoute(useHash())
}

/** Returns the full address after `#`. */
export function useHash(): string {
  return useSyncExternalStore(onHashChange, () => window.location.hash)
}

export function goTo(...parts: readonly string[]): void {
  const next = buildAddress(...parts)
  if (window.location.hash !== next) window.location.hash = next
}

/** Returns the `href` of a link within the window. */
export function buildAddress(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

export function parseRoute(hash: string): string[] {
  if (!hash.startsWith('#/')) return []
  const [path = ''] = hash.slice(2).split('?', 1)
  return path
    .split('/')
    .filter((part) => part !== '')
    .map(tryDecode)
}

/** Returns the filters and search text of a list, parsed from the query of the address. */
export function parseRouteFilters(hash: string): Record<string, string> {
  const [, query = ''] = /^#\/[^?]*\?(.*)$/.exec(hash) ?? []
  return Object.fromEntries(new URLSearchParams(query))
}

export function withFilters(hash: string, filters: Readonly<Record<string, string>>): string {
  const [path = ''] = hash.split('?', 1)
  const query = new URLSearchParams(filters).toString()
  return query === '' ? path : `${path}?${query}`
}

function tryDecode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // malformed, for example typed manually
  }
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}
