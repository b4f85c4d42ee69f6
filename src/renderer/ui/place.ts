import { useSyncExternalStore } from 'react'

/** Where the window is: the parts of the address after `#/`, the section first (`#/settings/keys`). */
export function usePlace(): readonly string[] {
  const hash = useSyncExternalStore(onHashChange, () => window.location.hash)
  return placeOf(hash)
}

export function goTo(...parts: readonly string[]): void {
  const next = addressOf(...parts)
  if (window.location.hash !== next) window.location.hash = next
}

/** For the `href` of a link within the window. */
export function addressOf(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

export function placeOf(hash: string): string[] {
  if (!hash.startsWith('#/')) return []
  return hash
    .slice(2)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // typed by hand
  }
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}
