import { useEffect, useState } from 'react'

/** Returns the value once it has been unchanged for `pauseMs`, and the previous value until then. */
export function useDebounced<T>(value: T, pauseMs = 200): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
