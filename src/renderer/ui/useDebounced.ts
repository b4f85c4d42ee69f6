import { useEffect, useState } from 'react'

/** The value once it has stayed the same for a moment: who types on is not asked for yet. */
export function useDebounced(value: string, pauseMs = 200): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
