import { useSyncExternalStore } from 'react'
import type { Feature } from '../ui/feature.ts'

/** The section the address names (`#/terminals`), else the first one. */
export function useSection(features: readonly Feature[]): Feature | undefined {
  const id = useSyncExternalStore(onHashChange, sectionId)
  return features.find((feature) => feature.id === id) ?? features[0]
}

export function goToSection(id: string): void {
  if (sectionId() !== id) window.location.hash = `/${id}`
}

function sectionId(): string | undefined {
  return window.location.hash.match(/^#\/([^/]+)/)?.[1]
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}
