import type { Feature } from '../ui/feature.ts'
import { goTo, placeOf, usePlace } from '../ui/place.ts'

/** The section the address names (`#/terminals`). */
export function useSection(features: readonly Feature[]): Feature | undefined {
  const [id] = usePlace()
  return features.find((feature) => feature.id === id)
}

/** The section that is shown already stays where it is. */
export function goToSection(id: string): void {
  if (placeOf(window.location.hash)[0] !== id) goTo(id)
}
