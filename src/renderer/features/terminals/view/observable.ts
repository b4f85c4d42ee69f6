import { useSyncExternalStore } from 'react'

/** A value that views follow. */
export type Observable<Value> = { readonly now: Value; subscribe(listener: () => void): () => void }

export type Settable<Value> = Observable<Value> & { set(value: Value): void }

export function observable<Value>(initial: Value): Settable<Value> {
  const listeners = new Set<() => void>()
  let now = initial
  return {
    get now() {
      return now
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    set(value) {
      if (Object.is(value, now)) return
      now = value
      for (const listener of [...listeners]) listener()
    },
  }
}

export function useObservable<Value>(of: Observable<Value>): Value {
  return useSyncExternalStore(of.subscribe, () => of.now)
}
