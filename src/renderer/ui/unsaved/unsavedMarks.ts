import { parseRoute } from '../route.ts'

/** Unsaved changes by the route that contains them, such as `['settings', 'policies']`. */
export type UnsavedMarks = {
  /** @param discard called if the user leaves anyway */
  put(owner: string, place: readonly string[], discard?: () => void): void
  remove(owner: string): void
  any(): boolean
  /** Whether navigating to the address loses unsaved changes. */
  loses(hash: string): boolean
  /** Discards all changes, so that leaving requires no further confirmation. */
  discard(): void
}

export function createUnsavedMarks(): UnsavedMarks {
  const changes = new Map<string, { place: readonly string[]; discard: () => void }>()
  return {
    put: (owner, place, discard = () => {}) => void changes.set(owner, { place, discard }),
    remove: (owner) => void changes.delete(owner),
    any: () => changes.size > 0,
    loses(hash) {
      const next = parseRoute(hash)
      return [...changes.values()].some(({ place }) => place.some((part, at) => next[at] !== part))
    },
    discard() {
      for (const { discard } of changes.values()) discard()
      changes.clear()
    },
  }
}
