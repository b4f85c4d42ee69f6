import { useState } from 'react'

/**
 * Returns `present` and previously present ids, newest first, without duplicates. Used to keep recent views mounted.
 */
export function useRecent<Id extends string>(present: Id | undefined, limit: number): readonly Id[] {
  const [recent, setRecent] = useState<readonly Id[]>([])
  if (present === undefined || recent[0] === present) return recent
  const next = [present, ...recent.filter((id) => id !== present)].slice(0, limit)
  setRecent(next)
  return next
}
