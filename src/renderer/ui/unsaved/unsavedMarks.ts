import { placeOf } from '../place.ts'

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

export function unsavedMarks(): UnsavedMarks {
  const held = new Map<string, { place: readonly string[]; discard: () => void }>()
  return {
    put: (owner, place, discard = () => {}) => void held.set(owner, { place, discard }),
    remove: (owner) => void held.delete(owner),
    any: () => held.size > 0,
    loses(hash) {
      const next = placeOf(hash)
      return [...held.values()].some(({ place }) => place.some((part, at) => next[at] !== part))
    },
    discard() {
      for (const { discard } of held.values()) discard()
      held.clear()
    },
  }
}
