import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Persisted } from './persistValue.ts'

/** Returns the stored value, and updates on changes in any window. */
export function usePersisted<Value>({ subscribe, read }: Persisted<Value>): Value {
  return useSyncExternalStore(subscribe, read)
}

export type Change<Value> = (change: (prev: Value) => Value) => void

/** State initialized from the stored value and written on each change. Ignores changes in other windows. */
export function usePersistedState<Value>(store: Persisted<Value>): [Value, Change<Value>] {
  const [value, setValue] = useState(store.read)
  const written = useRef(value)
  useEffect(() => {
    if (written.current === value) return
    written.current = value
    store.write(value)
  }, [store, value])
  return [value, (change) => setValue(change)]
}
