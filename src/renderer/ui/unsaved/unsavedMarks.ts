import { parseRoute } from '../route.ts'

/** Unsaved changes, by the route that holds them: `['settings', 'policies']`. */
export type UnsavedMarks = {
  /** @param discard when the person leaves all the same */
  put(owner: string, place: readonly string[], discard?: () => void): void
  remove(owner: string): void
  any(): boolean
  /** Whether going there loses something. */
  loses(hash: string): boolean
  /** The person leaves: nothing is asked about any more. */
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
