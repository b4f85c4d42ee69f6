import { useEffect } from 'react'
import { windowStore } from '../storage/textStore.ts'
import type { Feature } from '../ui/feature.ts'
import { buildAddress, parseRoute, useRoute } from '../ui/route.ts'

/** Returns the section in the address, such as `#/terminals`. */
export function useSection(features: readonly Feature[]): Feature | undefined {
  const [id] = useRoute()
  return features.find((feature) => feature.id === id)
}

const lastAddressKey = (sectionId: string) => `steward.last-address.${sectionId}`

/** Records the last route of each section, in memory. */
export function useLastAddresses(): void {
  useEffect(() => {
    window.addEventListener('hashchange', rememberAddress)
    return () => window.removeEventListener('hashchange', rememberAddress)
  }, [])
}

export function rememberAddress({ oldURL, newURL }: Pick<HashChangeEvent, 'oldURL' | 'newURL'>): void {
  const { hash } = new URL(oldURL)
  const [id] = parseRoute(hash)
  const [next] = parseRoute(new URL(newURL).hash)
  if (id !== undefined && id !== next) windowStore.set(lastAddressKey(id), hash)
}

/** Opens a section at its last route. Does nothing if it is open already. */
export function goToSection(id: string): void {
  if (parseRoute(window.location.hash)[0] === id) return
  const last = windowStore.get(lastAddressKey(id))
  window.location.hash = last !== null && parseRoute(last)[0] === id ? last : buildAddress(id)
}
