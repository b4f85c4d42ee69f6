import { placeOf } from '../place.ts'

/** What was written and is not saved, and the place that holds it: `['settings', 'policies']`. */
export type UnsavedMarks = {
  put(owner: string, place: readonly string[]): void
  remove(owner: string): void
  any(): boolean
  /** Whether going there loses something. */
  loses(hash: string): boolean
  clear(): void
}

export function unsavedMarks(): UnsavedMarks {
  const held = new Map<string, readonly string[]>()
  return {
    put: (owner, place) => void held.set(owner, place),
    remove: (owner) => void held.delete(owner),
    any: () => held.size > 0,
    loses(hash) {
      const next = placeOf(hash)
      return [...held.values()].some((place) => place.some((part, at) => next[at] !== part))
    },
    clear: () => held.clear(),
  }
}
