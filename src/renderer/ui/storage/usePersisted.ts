import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Persisted } from './persisted.ts'

/** The stored value, also after a change by another window. */
export function usePersisted<Value>({ subscribe, read }: Persisted<Value>): Value {
  return useSyncExternalStore(subscribe, read)
}

export type Change<Value> = (change: (prev: Value) => Value) => void

/** State that begins with the stored value and is written after each change; other windows do not change it. */
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
