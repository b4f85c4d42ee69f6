import { useState } from 'react'

/** `present` and what was present before it, newest first, each once: what is worth keeping on the page. */
export function useRecent<Id extends string>(present: Id | undefined, limit: number): readonly Id[] {
  const [recent, setRecent] = useState<readonly Id[]>([])
  if (present === undefined || recent[0] === present) return recent
  const next = [present, ...recent.filter((id) => id !== present)].slice(0, limit)
  setRecent(next)
  return next
}
